/*
 * event.h: a decoded event of a thread's ring: allocation, free, realloc or
 * extra.
 */
#ifndef GNOMON_EVENT_H
#define GNOMON_EVENT_H

#include <stdint.h>

struct trace_event {
	uint64_t stamp;		/* ticks */
	uint64_t address;
	uint64_t size;		/* ALLOC, REALLOC_DONE, EXTRA; else 0 */
	uint32_t context;	/* likewise; FREE, REALLOC_BEGIN: of the freeing
				 * code, 0: not recorded */
	uint8_t kind;		/* enum gt_event */
	uint8_t what;		/* EXTRA: enum gt_extra, or 255; else 0 */
	uint16_t layout;	/* ALLOC, REALLOC_DONE: enum gt_layout; else 0 */
	/* EXTRA: its GT_EXTRA_ARGS arguments; else NULL. In a decoder's event:
	 * valid until the next batch. */
	const uint64_t *args;
};

_Static_assert(sizeof(struct trace_event) == 40, "many are kept at a time");

#endif
