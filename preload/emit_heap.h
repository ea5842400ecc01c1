/*
 * emit_heap.h: names of heaps into the trace, before the first event of each.
 * The writer only.
 */
#ifndef GNOMON_EMIT_HEAP_H
#define GNOMON_EMIT_HEAP_H

#include "preload/chunk.h"
#include "preload/heaps.h"

struct emit_heap {
	struct chunk_out *out;
	unsigned tick_shift;
	struct heaps_told told;	/* all zero where a trace begins */
};

/* Writes what is not in the trace yet: behind a look at rings, and before
 * what was found there is written. Uses the payload buffer of `out`. */
void emit_heap_flush(struct emit_heap *emit);

#endif
