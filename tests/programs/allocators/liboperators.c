/*
 * liboperators.c: a library with its own operators new and delete, which call
 * malloc or, with memory of their own, nothing.
 */
#include <stddef.h>
#include <stdlib.h>

#define EXTRA 32

size_t operators_calls;

void *_Znwm(size_t size)
{
	char *p = malloc(size + EXTRA);

	operators_calls++;
	if (!p)
		abort();
	return p + EXTRA;
}

void _ZdlPv(void *block)
{
	operators_calls++;
	if (block)
		free((char *)block - EXTRA);
}

void _ZdlPvm(void *block, size_t size)
{
	(void)size;
	_ZdlPv(block);
}

/* Arrays come out of memory of its own, and end nowhere. */
void *_Znam(size_t size)
{
	static char pool[1 << 16];
	static size_t used;
	void *p = pool + used;

	operators_calls++;
	used += (size + 15) & ~(size_t)15;
	if (used > sizeof(pool))
		abort();
	return p;
}

void _ZdaPv(void *block)
{
	(void)block;
	operators_calls++;
}
