/*
 * bump.c: a pointer that only moves up through a static array; larger blocks
 * get mappings of their own.
 *
 *	| … | size | block … | size | block … | free … |
 *	                                       ^ bump_next
 *
 * I1: the word before a block holds its requested size. I2: memory above
 * bump_next has never been written, so it is zero. I3: only static data of this
 * file is used, addressed relative to the pc.
 */
#include "preload/base/bump.h"

#include <stdatomic.h>

#include "preload/base/sys.h"

#define BUMP_REGIONS 64		/* programs usually need none */

struct bump_region {
	uintptr_t start, end;
};

_Alignas(4096) unsigned char bump_arena[BUMP_SIZE];
bool bump_extended;

static _Atomic uintptr_t bump_next;	/* offset in the static arena */
static struct bump_region bump_regions[BUMP_REGIONS];
static _Atomic uint32_t bump_region_count;
static _Atomic uint64_t bump_blocks;

static uintptr_t bump_place(uintptr_t from, size_t alignment)
{
	return base_round_up(from + sizeof(size_t), alignment);
}

static void *bump_finish(uintptr_t block, size_t size)
{
	DEBUG_ASSERT(block % 16 == 0);
	((size_t *)block)[-1] = size;
	/* only a count: orders nothing */
	atomic_fetch_add_explicit(&bump_blocks, 1, memory_order_relaxed);
	return (void *)block;
}

static void *bump_map(size_t size, size_t alignment)
{
	size_t bytes = base_round_up(size + alignment + sizeof(size_t), 4096);
	uint32_t i;
	uintptr_t start;

	if (bytes < size)
		return NULL;
	i = atomic_fetch_add_explicit(&bump_region_count, 1,
				      memory_order_relaxed);
	if (i >= BUMP_REGIONS)
		return NULL;
	start = (uintptr_t)sys_map_pages(bytes);
	if (!start)
		return NULL;
	bump_regions[i].start = start;
	bump_regions[i].end = start + bytes;
	bump_extended = true;
	ASSERT(bump_place(start, alignment) + size <= start + bytes);
	return bump_finish(bump_place(start, alignment), size);
}

void *bump_alloc(size_t size, size_t alignment)
{
	uintptr_t base = (uintptr_t)bump_arena;
	uintptr_t old, block;

	if (alignment & (alignment - 1))
		return NULL;
	if (alignment < 16)
		alignment = 16;
	old = atomic_load_explicit(&bump_next, memory_order_relaxed);
	do {
		block = bump_place(base + old, alignment);
		if (size > BUMP_SIZE || alignment > BUMP_SIZE ||
		    block + size > base + BUMP_SIZE)
			return bump_map(size, alignment);
	} while (!atomic_compare_exchange_weak_explicit(
		&bump_next, &old, block + size - base, memory_order_relaxed,
		memory_order_relaxed));
	ASSERT(block > base + old && block + size <= base + BUMP_SIZE);
	return bump_finish(block, size);
}

size_t bump_size(const void *block)
{
	DEBUG_ASSERT(bump_owns(block));
	return ((const size_t *)block)[-1];
}

uint64_t bump_count(void)
{
	return atomic_load_explicit(&bump_blocks, memory_order_relaxed);
}

bool bump_owns_extended(const void *block)
{
	uintptr_t at = (uintptr_t)block;
	unsigned i;

	for (i = 0; i < BUMP_REGIONS; i++)
		if (at - bump_regions[i].start <
		    bump_regions[i].end - bump_regions[i].start)
			return true;
	return false;
}
