/*
 * failure.h: formats error messages for the user. No state; any thread.
 */
#ifndef GNOMON_FAILURE_H
#define GNOMON_FAILURE_H

#include <stddef.h>

#define FAILURE_NUMBER 24	/* "error 17" */

/* The message for an errno value of either sign. A value without a message is
 * printed to the buffer as a number. */
const char *failure_words(int err, char number[FAILURE_NUMBER]);

/* As snprintf, but truncation is no error: paths may be longer than
 * messages. */
void failure_print(char *message, size_t size, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* The same for "what: path: words"; path may be NULL. */
void failure_message(char *message, size_t size, const char *what,
		     const char *path, int err);

#endif
