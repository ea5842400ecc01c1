/*
 * grow.c: allocation that cannot fail quietly. Any thread of the command.
 */
#include "cli/base/grow.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "cli/base/tell.h"

#define CACHE_LINE ((size_t)64)
#define LARGE_PAGE ((size_t)2 << 20)

static int failure_status = EXIT_NOTHING;

void grow_set_failure_status(int status)
{
	failure_status = status;
}

static _Noreturn void out_of_memory(size_t size)
{
	tell_error("out of memory (%zu bytes wanted): read the trace on a "
		      "machine with more, or raise `ulimit -v`", size);
	exit(failure_status);
}

void *grow_alloc(size_t size)
{
	void *p = malloc(size ? size : 1);

	if (p == NULL)
		out_of_memory(size);
	return p;
}

void *grow_zeroed(size_t count, size_t size)
{
	void *p = calloc(count ? count : 1, size ? size : 1);

	if (p == NULL)
		out_of_memory(count);
	return p;
}

void *grow_lines(void *old, size_t used, size_t size)
{
	size_t unit = size >= LARGE_PAGE ? LARGE_PAGE : CACHE_LINE;
	void *p = NULL;

	/* aligned_alloc is not in all allocators that may stand before ours */
	if (size > SIZE_MAX - unit ||
	    posix_memalign(&p, unit, (size + unit - 1) & ~(unit - 1)) != 0)
		out_of_memory(size);
	/* Where the kernel has none, small ones do. */
	if (unit == LARGE_PAGE)
		madvise(p, size, MADV_HUGEPAGE);
	if (used > 0)
		memcpy(p, old, used);
	free(old);
	return p;
}

void *grow_resize(void *old, size_t count, size_t size)
{
	void *p;

	if (size != 0 && count > SIZE_MAX / size)
		out_of_memory(SIZE_MAX);
	p = realloc(old, count > 0 && size > 0 ? count * size : 1);
	if (p == NULL)
		out_of_memory(count * size);
	return p;
}

char *grow_copy(const void *text, size_t size)
{
	char *copy = grow_alloc(size + 1);

	memcpy(copy, text, size);
	copy[size] = 0;
	return copy;
}

char *grow_format(const char *format, ...)
{
	va_list args;
	char *text;
	int n;

	va_start(args, format);
	n = vasprintf(&text, format, args);
	va_end(args);
	if (n < 0)
		out_of_memory(0);
	return text;
}
