/*
 * grow.c: allocation that ends the process on failure. Any thread.
 */
#include "cli/base/grow.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/try_alloc.h"

static void (*handler)(size_t size);

void grow_on_failure(void (*failed)(size_t size))
{
	handler = failed;
}

void grow_failed(size_t size)
{
	if (handler != NULL)
		handler(size);
	abort();
}

void *grow_alloc(size_t size)
{
	void *p = malloc(size ? size : 1);

	if (p == NULL)
		grow_failed(size);
	return p;
}

/* Of an array; SIZE_MAX if no size_t holds it. */
static size_t bytes_of(size_t count, size_t size)
{
	return size > 0 && count > SIZE_MAX / size ? SIZE_MAX : count * size;
}

void *grow_zeroed(size_t count, size_t size)
{
	void *p = calloc(count ? count : 1, size ? size : 1);

	if (p == NULL)
		grow_failed(bytes_of(count, size));
	return p;
}

void *grow_lines(void *old, size_t used, size_t size)
{
	void *p = try_alloc_lines(old, used, size);

	if (p == NULL)
		grow_failed(size);
	return p;
}

void *grow_resize(void *old, size_t count, size_t size)
{
	void *p = try_alloc_resize(old, count, size);

	if (p == NULL)
		grow_failed(bytes_of(count, size));
	return p;
}

void *grow_reach(void *old, size_t *capacity, size_t index, size_t size)
{
	size_t before = *capacity;

	if (index < before)
		return old;
	*capacity = index + index / 2 + 64;
	old = grow_resize(old, *capacity, size);
	memset((char *)old + before * size, 0, (*capacity - before) * size);
	return old;
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
		grow_failed(0);
	return text;
}
