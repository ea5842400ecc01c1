/*
 * bump.h: a bump allocator for allocations made before the real allocator can
 * be called: by resolvers of indirect functions, while the loader is
 * relocating. Its blocks are never freed.
 *
 * Any thread, any time; works before this library is relocated. Blocks survive
 * a fork like any memory of the program.
 */
#ifndef GNOMON_BUMP_H
#define GNOMON_BUMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "preload/base/base.h"

#define BUMP_SIZE (128u << 10)

extern BASE_HIDDEN _Alignas(4096) unsigned char bump_arena[BUMP_SIZE];
extern BASE_HIDDEN bool bump_extended;

/* Zeroed; NULL if there is no memory, or alignment is no power of two. */
void *bump_alloc(size_t size, size_t alignment);

/* The requested size of a block of the arena. */
size_t bump_size(const void *block);

/* Number of blocks allocated so far. */
uint64_t bump_count(void);

bool bump_owns_extended(const void *block);

static inline bool bump_owns(const void *block)
{
	if ((uintptr_t)block - (uintptr_t)bump_arena < BUMP_SIZE)
		return true;
	return unlikely(bump_extended) && bump_owns_extended(block);
}

#endif
