/*
 * segments.h: the alternative to path cache and shadow stack, for measuring:
 * one structure of shared pieces of stacks. See segments.c.
 */
#ifndef GNOMON_BENCH_SEGMENTS_H
#define GNOMON_BENCH_SEGMENTS_H

#include <stdint.h>

struct capture_thread;
struct segments;	/* of one thread, opaque; from unwind_alloc */

/* Captures so far that were no hit of a chain of segments. */
struct segment_counts {
	uint64_t join;		/* walked until a segment held */
	uint64_t full;		/* walked to the end */
	uint64_t other;		/* left to capture_stack */
	uint64_t frames;	/* walked by the first two */
};

/* For a thread that is in mode off and that nobody else captures with. NULL:
 * no memory. */
struct segments *segments_new(struct capture_thread *t);

/* As capture_stack. */
uint32_t segments_capture(struct segments *s, uintptr_t ra, uintptr_t sp,
			  uintptr_t fp);

const struct segment_counts *segments_counts(const struct segments *s);

/* What the structure occupies. */
uint64_t segments_bytes(const struct segments *s);

#endif
