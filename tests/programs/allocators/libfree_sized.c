// LINK: libbump.c
/*
 * libfree_sized.c: an allocator with functions of newer standards, other
 * systems and newer versions. It checks its arguments: a call whose arguments
 * the profiler changed ends the program.
 */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

unsigned kin_calls;

static void promised(void *block, size_t size)
{
	kin_calls++;
	if (block && ((size_t *)block)[-1] != size)
		abort();
}

void free_sized(void *block, size_t size)
{
	promised(block, size);
}

void free_aligned_sized(void *block, size_t alignment, size_t size)
{
	promised(block, size);
	if ((uintptr_t)block % alignment)
		abort();
}

void cfree(void *block)
{
	(void)block;
	kin_calls++;
}

void vfree(void *block)
{
	(void)block;
	kin_calls++;
}

void *_aligned_malloc(size_t alignment, size_t size)
{
	kin_calls++;
	return aligned_alloc(alignment, size);
}

void *mi_malloc(size_t size)
{
	return malloc(size);
}

void *mi_heap_zalloc_small(void *heap, size_t size)
{
	(void)heap;
	kin_calls++;
	return calloc(1, size);
}

void *reallocf(void *block, size_t size)
{
	kin_calls++;
	return realloc(block, size);
}

int reallocarr(void *where, size_t count, size_t size)
{
	size_t all;
	void *made;

	kin_calls++;
	if (__builtin_mul_overflow(count, size, &all))
		return EOVERFLOW;
	made = realloc(*(void **)where, all);
	if (!made)
		return ENOMEM;
	*(void **)where = made;
	return 0;
}
