/*
 * ring_shared.c: see ring_shared.h.
 */
#include "preload/ring/ring_shared.h"

#include "preload/base/base.h"

void ring_place(struct gl_ring *ring, uint64_t head, uint64_t room)
{
	uint64_t lap = head & ~ring->mask;

	DEBUG_ASSERT(room >= RING_RECORD_MAX);
	ring->base = ring->data - lap;
	/* a record may start before the end of the lap and run over it */
	ring->limit = base_min(room - RING_RECORD_MAX + 1,
			       lap + ring->mask + 1);
}

void ring_push_free(struct gl_shared *shared, enum recorder_pool which,
		    uint32_t id)
{
	uint64_t head = atomic_load_explicit(&shared->ring_free[which],
					     memory_order_relaxed);
	uint64_t next;

	DEBUG_ASSERT(id > 0 && id <= GL_RINGS_MAX);
	atomic_fetch_add_explicit(&shared->ring_count[which], 1,
				  memory_order_relaxed);
	do {
		atomic_store_explicit(&shared->ring_next[id - 1],
				      (uint32_t)head, memory_order_relaxed);
		next = id | ((head >> 32) + 1) << 32;
		/* pairs with the acquire of ring_pool_pop */
	} while (!atomic_compare_exchange_weak_explicit(
		&shared->ring_free[which], &head, next, memory_order_release,
		memory_order_relaxed));
}

void ring_kick(struct gl_ring *rings, uint32_t count)
{
	uint32_t id;

	for (id = 0; id < count; id++) {
		struct gl_ring *ring = &rings[id];

		/* The owner may set another limit at the same time: then it has
		 * checked the state, or does so after the next round. */
		if (order_read(ring, limit))
			order_write(ring, limit, 0);
	}
}

#ifdef GNOMON_DEBUG_ASSERTS
bool ring_is_valid(const struct gl_ring *ring)
{
	uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_acquire);
	uint64_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);
	/* the recorder may zero it at any time (ring_kick) */
	uint64_t limit = order_read(ring, limit);
	uint64_t size = ring->mask + 1;

	return size >= 2 * RING_RECORD_MAX && !(size & ring->mask) &&
	       ring->data && head % 8 == 0 && tail <= head &&
	       head - tail <= size &&
	       ring->base % 8 == 0 && limit <= head + size &&
	       /* in the lap of head, or in the one that ended with it */
	       ring->base + head - ring->data <= size + RING_RECORD_MAX;
}
#endif
