/*
 * nested.h: how far the records of a thread's second ring are as they will
 * stay. A handler that leaves a hook by a jump leaves a record that was
 * reserved and is never completed (ring.c); all behind it waits until that is
 * known. The writer only.
 *
 * I1: what lies before `to` does not change any more.
 *
 * There are two proofs, each by the thread's first ring, looked at after the
 * head of the second was read:
 *  - it is idle: no hook is at work;
 *  - its head has moved since an earlier look. What pushes there was
 *    interrupted by the hooks of that time, or came after them, so these have
 *    all ended.
 */
#ifndef GNOMON_NESTED_H
#define GNOMON_NESTED_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/trace/format/trace_format.h"

/* Of one second ring; zeroed: nothing is known yet. */
struct nested {
	uint64_t to;		/* I1 */
	/* the look that the second proof goes back to, if there is one */
	bool watched;
	uint64_t head;		/* of the second ring */
	uint64_t first;		/* head of the first, */
	uint32_t generation;	/* where its positions begin anew */
};

/* `first`: the thread's first ring. `head`: of the second, read before.
 * Returns nested->to. */
uint64_t nested_settled(struct nested *nested, const struct gl_ring *first,
			uint64_t head);

#endif
