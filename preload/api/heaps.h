/*
 * heaps.h: the numbers and names of heaps that are not the allocator's: what
 * a program tells of by gnomon_heap_create.
 */
#ifndef GNOMON_HEAPS_H
#define GNOMON_HEAPS_H

#include <stdbool.h>
#include <stdint.h>

#include "preload/format.h"
#include "preload/ring/shared.h"

#define HEAPS_NAME_MAX (GL_HEAP_NAME - 1)

/*
 * The number of the heap of this name, a new one if there is none; 0: no
 * number or memory is left. Longer names are cut. The writer knows the name
 * before it can see an event of the heap; if there is no room to tell it, the
 * heap has none. Any thread, also in handlers.
 */
uint32_t heaps_create(const char *name);

/* The recorder starts, perhaps of a forked child: the writer is told of the
 * heaps that there are. r->shared is there. */
void heaps_tell_all(void);

/* Whether a number can be a heap's. */
static inline bool heaps_valid(uint32_t heap)
{
	return heap - 1 < GL_HEAPS_MAX - 1;
}

#endif
