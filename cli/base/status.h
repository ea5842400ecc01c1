/*
 * status.h: how a command ends, and so what whatever it is made of answers.
 */
#ifndef GNOMON_STATUS_H
#define GNOMON_STATUS_H

/* Exit states of every command but `run`, which ends as its program did. */
enum exit_status {
	EXIT_COMPLETE = 0,
	EXIT_NO = 1,		/* the answer is "no": a check failed */
	EXIT_NOTHING = 2,	/* wrong use, or nothing could be read */
	EXIT_PARTIAL = 3	/* a result, but parts were missing or damaged */
};

#endif
