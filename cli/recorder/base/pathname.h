/*
 * pathname.h: composes and splits file names. No state; any thread.
 */
#ifndef GNOMON_PATHNAME_H
#define GNOMON_PATHNAME_H

#include <stdbool.h>
#include <stddef.h>

/* As snprintf. False: the name does not fit and is truncated. */
bool pathname_print(char *path, size_t size, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* The part after the last slash. */
const char *pathname_base(const char *path);

#endif
