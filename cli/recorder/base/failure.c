/*
 * failure.c: see failure.h.
 */
#include "cli/recorder/base/failure.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "preload/base/error_words.h"

const char *failure_words(int err, char number[FAILURE_NUMBER])
{
	const char *words = error_words(err);

	if (words)
		return words;
	snprintf(number, FAILURE_NUMBER, "error %d", abs(err));
	return number;
}

void failure_print(char *message, size_t size, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(message, size, format, args);
	va_end(args);
}

void failure_message(char *message, size_t size, const char *what,
		     const char *path, int err)
{
	char number[FAILURE_NUMBER];

	failure_print(message, size, "%s%s%s: %s", what, path ? ": " : "",
		      path ? path : "", failure_words(err, number));
}
