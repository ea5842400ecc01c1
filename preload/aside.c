/*
 * aside.c: see aside.h.
 */
#include "preload/aside.h"

void aside_kick(struct recorder *r)
{
	uint32_t count = atomic_load_explicit(&r->live->ring_count,
					      memory_order_acquire), id;

	for (id = 0; id < count; id++) {
		struct gl_ring *ring = &r->rings[id];

		/* The owner may put another limit there at the same time: then
		 * it has looked around, or does so after the next round. */
		if (__atomic_load_n(&ring->limit, __ATOMIC_RELAXED))
			__atomic_store_n(&ring->limit, 0, __ATOMIC_RELAXED);
	}
}
