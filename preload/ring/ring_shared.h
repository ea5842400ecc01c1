/*
 * ring_shared.h: what the writer and the owners of rings both know of them
 * (ring.h, feed.h).
 */
#ifndef GNOMON_RING_SHARED_H
#define GNOMON_RING_SHARED_H

#include "preload/ring/shared.h"

#define RING_RECORD_MAX GL_RECORD_MAX

#define RING_OFFERED UINT64_C(1)	/* beside the address of a ring */
/* Nobody's: the next event of any thread answers the writer's questions
 * (arenas.h, replaced.h). */
#define RING_ASKED UINT64_C(2)

/* Values of gl_ring.waiting, see ring.c. */
enum { RING_AWAKE, RING_WAITS, RING_HELD };

/* Where pushing goes on from `head` on, with room up to the position `room`. */
void ring_place(struct gl_ring *ring, uint64_t head, uint64_t room);

/* Puts a ring into a free list. The writer, or who has just taken it. */
void ring_push_free(struct gl_shared *shared, enum recorder_pool which,
		    uint32_t id);

/* Of a ring whose owner asks: sizes, positions, and where it pushes. While the
 * writer does not hold it. With GNOMON_CLAIMS (claim.h). */
bool ring_is_valid(const struct gl_ring *ring);

/* Whoever pushes finds no room, and looks around (aside.h, I1). */
void ring_kick(struct gl_ring *rings, uint32_t count);

/* What threads that wait for room sleep on: the low half of the tail. */
static inline const order_32 *ring_tail_word(const struct gl_ring *ring)
{
	return (const order_32 *)&ring->tail + ORDER_BIG;
}

/* relaxed: the order that I4 needs is that of the program, which hands blocks
 * from thread to thread; what is left is the window's */
static inline uint64_t ring_turn_of(const struct gl_shared *shared)
{
	return atomic_load_explicit(&shared->turn, memory_order_relaxed);
}

#endif
