/*
 * ring.h: how a hook puts an event into its thread's ring. The fast half is
 * inline; ring.c has what happens when the ring is full, when a hook has
 * interrupted a hook, and when a hook was left by a jump.
 *
 * Between ring_enter and ring_leave the thread's ring is busy: a hook that
 * runs then, in a signal handler, uses the second ring (ring_nested_*).
 *
 * I1: only the owner stores to the producer's line, or the writer while the
 *     owner waits for it (see ring.c, pool.c).
 * I2: a record is complete before `head` covers it.
 * I3: a stamp is taken after `busy` was set.
 */
#ifndef GNOMON_RING_H
#define GNOMON_RING_H

#include "preload/recorder.h"

#define RING_RECORD_MAX 32	/* bytes of the longest record */

/* Makes room for one record. False: the event is lost, and was counted. */
bool ring_make_room(struct recorder *r, struct gl_ring *ring);

/* Whether the hook that set `busy` is gone. sp: of the hook that asks, as
 * ring_enter takes it. */
bool ring_stale(const struct thread *thread, const struct gl_ring *ring,
		uintptr_t sp);

/* A whole event into the second ring. */
void ring_nested_push(struct recorder *r, struct thread *thread, unsigned kind,
		      uint64_t stamp, uint64_t address, uint32_t context,
		      uint64_t size);

/* Values of gl_ring.waiting, see ring.c. */
enum { RING_AWAKE, RING_WAITS, RING_HELD };

/* Low bit of `busy`, beside the stack pointer: the owner is inside a real
 * function that may come back to our hooks (struct real, reenter). */
#define RING_IN_REAL UINT64_C(2)

static inline bool ring_idle(const struct gl_ring *ring)
{
	/* the thread's own variable: no order needed */
	return atomic_load_explicit(&ring->busy, memory_order_relaxed) ==
	       GL_IDLE;
}

/* sp, ra: the hook's stack pointer after its return, and where it returns to. */
static inline void ring_enter(struct gl_ring *ring, uintptr_t sp,
			      uintptr_t ra)
{
	ring->owner = ra;
	atomic_store_explicit(&ring->busy, sp, memory_order_relaxed);
	/* I3: a handler on this thread, and as good as always the writer,
	 * sees it before the stamp exists; the rest is the window's */
	atomic_signal_fence(memory_order_seq_cst);
}

static inline void ring_leave(struct gl_ring *ring)
{
	/* pairs with the acquire of feed_scan: idle means head is current */
	atomic_store_explicit(&ring->busy, GL_IDLE, memory_order_release);
}

static inline uint64_t *ring_reserve(struct recorder *r, struct gl_ring *ring,
				     uint64_t *head)
{
	*head = atomic_load_explicit(&ring->head, memory_order_relaxed);
	if (unlikely(*head + RING_RECORD_MAX > ring->limit)) {
		if (!ring_make_room(r, ring))
			return NULL;
		*head = atomic_load_explicit(&ring->head,
					     memory_order_relaxed);
	}
	return (uint64_t *)(ring->data + (*head & ring->mask));
}

/* GT_ALLOC, GT_REALLOC_DONE. */
static inline void ring_push_block(struct recorder *r, struct gl_ring *ring,
				   unsigned kind, uint64_t stamp,
				   uint64_t address, uint32_t context,
				   uint64_t size)
{
	uint64_t head;
	uint64_t *word = ring_reserve(r, ring, &head);

	if (unlikely(!word))
		return;
	word[0] = stamp << GL_KIND_BITS | kind;
	word[1] = address;
	if (likely(size < GL_SIZE_BIG)) {
		word[2] = context | size << 32;
		head += 24;
	} else {
		word[2] = context | (uint64_t)GL_SIZE_BIG << 32;
		word[3] = size;
		head += 32;
	}
	/* pairs with the acquire of feed_scan */
	atomic_store_explicit(&ring->head, head, memory_order_release);
}

/* All other kinds. */
static inline void ring_push_address(struct recorder *r, struct gl_ring *ring,
				     unsigned kind, uint64_t stamp,
				     uint64_t address)
{
	uint64_t head;
	uint64_t *word = ring_reserve(r, ring, &head);

	if (unlikely(!word))
		return;
	word[0] = stamp << GL_KIND_BITS | kind;
	word[1] = address;
	/* pairs with the acquire of feed_scan */
	atomic_store_explicit(&ring->head, head + 16, memory_order_release);
}

#endif
