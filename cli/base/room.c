/*
 * room.c: see room.h. Any thread.
 */
#include "cli/base/room.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define CACHE_LINE ((size_t)64)
#define LARGE_PAGE ((size_t)2 << 20)

void *room_resize(void *old, size_t count, size_t size)
{
	if (size != 0 && count > SIZE_MAX / size)
		return NULL;
	return realloc(old, count > 0 && size > 0 ? count * size : 1);
}

void *room_lines(void *old, size_t used, size_t size)
{
	size_t unit = size >= LARGE_PAGE ? LARGE_PAGE : CACHE_LINE;
	void *p = NULL;

	/* aligned_alloc is not in all allocators that may stand before ours */
	if (size > SIZE_MAX - unit ||
	    posix_memalign(&p, unit, (size + unit - 1) & ~(unit - 1)) != 0)
		return NULL;
	/* Where the kernel has none, small ones do. */
	if (unit == LARGE_PAGE)
		madvise(p, size, MADV_HUGEPAGE);
	if (used > 0)
		memcpy(p, old, used);
	free(old);
	return p;
}
