/*
 * pathname.h: names of files that are put together and taken apart. No state;
 * any thread.
 */
#ifndef GNOMON_PATHNAME_H
#define GNOMON_PATHNAME_H

#include <stdbool.h>
#include <stddef.h>

/* As snprintf. False: it does not fit, and what is there is cut. */
bool pathname_print(char *path, size_t size, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* What is behind the last slash. */
const char *pathname_base(const char *path);

#endif
