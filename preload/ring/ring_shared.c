/*
 * ring_shared.c: see ring_shared.h.
 */
#include "preload/ring/ring_shared.h"

#include "preload/base/base.h"

void ring_place(struct gl_ring *ring, uint64_t head, uint64_t room)
{
	uint64_t lap = head & ~ring->mask;

	ring->base = ring->data - lap;
	/* a record may begin below the lap's end and run over it */
	ring->limit = base_min(room - RING_RECORD_MAX + 1,
			       lap + ring->mask + 1);
}

void ring_kick(struct gl_ring *rings, uint32_t count)
{
	uint32_t id;

	for (id = 0; id < count; id++) {
		struct gl_ring *ring = &rings[id];

		/* The owner may put another limit there at the same time: then
		 * it has looked around, or does so after the next round. */
		if (__atomic_load_n(&ring->limit, __ATOMIC_RELAXED))
			__atomic_store_n(&ring->limit, 0, __ATOMIC_RELAXED);
	}
}

void ring_ask(struct gl_shared *shared)
{
	uint64_t turn = ring_turn_of(shared);

	if (turn != RING_ASKED)
		atomic_compare_exchange_strong_explicit(
			&shared->turn, &turn, RING_ASKED, memory_order_seq_cst,
			memory_order_relaxed);
}
