/*
 * status.h: exit statuses of commands, also returned by the functions below
 * them.
 */
#ifndef GNOMON_STATUS_H
#define GNOMON_STATUS_H

/* Exit statuses of every command except `run`, which ends as its program
 * did. */
enum exit_status {
	EXIT_COMPLETE = 0,
	EXIT_NO = 1,		/* a check failed, or there is a difference */
	EXIT_NOTHING = 2,	/* wrong use, or nothing could be read */
	EXIT_PARTIAL = 3	/* a result, but parts were missing or damaged */
};

#endif
