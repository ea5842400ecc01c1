/*
 * emit_heap.h: names of heaps into the trace, before the first event of each.
 * The writer only.
 */
#ifndef GNOMON_EMIT_HEAP_H
#define GNOMON_EMIT_HEAP_H

#include "cli/recorder/emit/chunk.h"
#include "preload/ring/shared.h"

struct emit_heap {
	struct chunk_out *out;
	const struct gl_shared *shared;
	const uint64_t *reserved;	/* names that may be read */
	unsigned tick_shift;
	uint32_t told;		/* in the trace: the first so many */
};

/* Writes what is not in the trace yet: behind a look at rings, and before
 * what was found there is written. Uses the payload buffer of `out`. */
void emit_heap_flush(struct emit_heap *emit);

#endif
