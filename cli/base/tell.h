/*
 * tell.h: everything that gnomon says on standard error.
 *
 * A message is one line, "gnomon: what happened: what to do", lower case,
 * without a full stop. Results never go through here: they are for stdout.
 */
#ifndef GNOMON_TELL_H
#define GNOMON_TELL_H

#include <stdbool.h>

/* Exit states of every command but `run`, which ends as its program did. */
enum exit_status {
	EXIT_COMPLETE = 0,
	EXIT_NO = 1,		/* the answer is "no": a check failed */
	EXIT_NOTHING = 2,	/* wrong use, or nothing could be read */
	EXIT_PARTIAL = 3	/* a result, but parts were missing or damaged */
};

/* Silence notes (not errors) from now on. */
void tell_set_quiet(bool quiet);
bool tell_is_quiet(void);

/* Says nothing at all until it is called with false: for a first look at what
 * is going to be looked at again. */
void tell_mute(bool mute);
bool tell_is_mute(void);

/* Something failed. Always printed. */
void tell_error(const char *format, ...)
	__attribute__((format(printf, 1, 2)));

/* Good to know; -q silences it. */
void tell_note(const char *format, ...)
	__attribute__((format(printf, 1, 2)));

#endif
