/*
 * nested_ring.h: up to where the records of a thread's second ring are final. A
 * signal handler that leaves a hook by longjmp leaves a record that is reserved
 * but never completed (ring.c). Records behind it wait until that is proved.
 * The recorder only.
 *
 * I1: records before `to` do not change any more.
 *
 * There are two proofs. Each reads the thread's first ring after the head of
 * the second ring:
 * - it is idle: no hook runs;
 * - its head has moved since an earlier reading. The hook that pushed there was
 *    interrupted by the hooks of that time or started after them, so they have
 *    all ended.
 */
#ifndef GNOMON_NESTED_RING_H
#define GNOMON_NESTED_RING_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/trace/format/trace_format.h"

/* State of one second ring; zeroed: nothing is known yet. */
struct nested_ring {
	uint64_t to;		/* I1 */
	/* the earlier reading for the second proof, if any */
	bool watched;
	uint64_t head;		/* of the second ring */
	uint64_t first;		/* head of the first, */
	uint32_t generation;	/* and its generation: positions start again
				 * with a new one */
};

/* `first`: the thread's first ring. `head`: of the second ring, read before the
 * call. Returns nested->to. */
uint64_t nested_settled(struct nested_ring *nested, const struct gl_ring *first,
			uint64_t head);

#endif
