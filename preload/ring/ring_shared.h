/*
 * ring_shared.h: the part of the ring protocol that the recorder and the owners
 * of rings share (ring.h, ring_drain.h).
 */
#ifndef GNOMON_RING_SHARED_H
#define GNOMON_RING_SHARED_H

#include "preload/ring/shared.h"

#define RING_RECORD_MAX GL_RECORD_MAX

#define RING_OFFERED UINT64_C(1)	/* flag in the address of a ring */
/* No ring: the next event of any thread handles the recorder's requests
 * (arenas.h, replaced_code.h). */
#define RING_ASKED UINT64_C(2)

/* Values of gl_ring.waiting, see ring.c. */
enum { RING_AWAKE, RING_WAITS, RING_HELD };

/* Sets where the producer pushes from `head` on, with room up to position
 * `room`. */
void ring_place(struct gl_ring *ring, uint64_t head, uint64_t room);

/* Puts a ring into a free list. The recorder, or the thread that has just taken
 * it. */
void ring_push_free(struct gl_shared *shared, enum recorder_pool which,
		    uint32_t id);

/* Checks a ring for its owner: sizes, positions, and where it pushes. While the
 * recorder does not hold it. With GNOMON_DEBUG_ASSERTS (assertion.h). */
bool ring_is_valid(const struct gl_ring *ring);

/* Takes the room away, so that each producer checks the state (skip.h, I1). */
void ring_kick(struct gl_ring *rings, uint32_t count);

/* The futex of threads that wait for room: the low half of the tail. */
static inline const order_32 *ring_tail_word(const struct gl_ring *ring)
{
	return (const order_32 *)&ring->tail + ORDER_BIG;
}

/* relaxed: I4 needs only the program's own order, by which it passes blocks
 * between threads; the merge window covers the rest */
static inline uint64_t ring_turn_of(const struct gl_shared *shared)
{
	return atomic_load_explicit(&shared->turn, memory_order_relaxed);
}

#endif
