/*
 * pathname.c: see pathname.h.
 */
#include "cli/recorder/base/pathname.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool pathname_print(char *path, size_t size, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(path, size, format, args);
	va_end(args);
	return n >= 0 && (size_t)n < size;
}

const char *pathname_base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}
