/*
 * heaps.h: the numbers and names of heaps that are not the allocator's: what
 * a program tells of by gnomon_heap_create.
 */
#ifndef GNOMON_HEAPS_H
#define GNOMON_HEAPS_H

#include <stdbool.h>
#include <stdint.h>

#include "preload/format.h"

#define HEAPS_NAME_MAX 63

/* The number of the heap of this name, a new one if there is none; 0: no
 * number or memory is left. Longer names are cut. Any thread, also in
 * handlers. */
uint32_t heaps_create(const char *name);

/* Whether a number can be a heap's. */
static inline bool heaps_valid(uint32_t heap)
{
	return heap - 1 < GL_HEAPS_MAX - 1;
}

/* Which heaps a trace knows: the first so many. */
struct heaps_told {
	uint32_t count;
};

/* The writer: a heap that has not been told of yet, which it then has, and its
 * name; 0: there is none. */
uint32_t heaps_next(struct heaps_told *told, const char **name);

#endif
