/*
 * heaps.h: numbers and names of custom allocators' heaps (gnomon_heap_create).
 */
#ifndef GNOMON_HEAPS_H
#define GNOMON_HEAPS_H

#include <stdbool.h>
#include <stdint.h>

#include "preload/format.h"
#include "preload/ring/shared.h"

#define HEAPS_NAME_MAX (GL_HEAP_NAME - 1)

/*
 * The number of the heap of this name, a new one if there is none; 0: no number
 * or memory is left. Longer names are cut. The recorder knows the name before
 * it can read an event of the heap; if there is no room for the name, the heap
 * has none. Any thread, also in handlers.
 */
uint32_t heaps_create(const char *name);

/* Passes all existing heaps to the recorder when it starts, perhaps of a forked
 * child. p->shared is there. */
void heaps_report_all(void);

/* Whether a number can be the number of a heap. */
static inline bool heaps_valid(uint32_t heap)
{
	return heap - 1 < GL_HEAPS_MAX - 1;
}

#endif
