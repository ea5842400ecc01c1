/*
 * emit_heap.h: writes the name of each heap to the trace before its first
 * event. The recorder only.
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
	uint32_t reported;		/* how many are in the trace already */
};

/* Writes names that the trace does not have yet. Call after rings were scanned
 * and before their events are written. Uses the payload buffer of `out`. */
void emit_heap_flush(struct emit_heap *emit);

#endif
