/*
 * failure.h: what failed, in words for the user. No state; any thread.
 */
#ifndef GNOMON_FAILURE_H
#define GNOMON_FAILURE_H

#include <stddef.h>

#define FAILURE_NUMBER 24	/* "error 17" */

/* The words for an errno value of either sign; of one that has none its number,
 * in the buffer. */
const char *failure_words(int err, char number[FAILURE_NUMBER]);

/* As snprintf, and what does not fit is left out: paths are longer than
 * messages. */
void failure_print(char *message, size_t size, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* The same for "what: path: words"; path may be NULL. */
void failure_message(char *message, size_t size, const char *what,
		     const char *path, int err);

#endif
