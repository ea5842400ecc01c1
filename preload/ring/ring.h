/*
 * ring.h: writes events into the calling thread's ring. The fast half is
 * inline; ring.c handles full rings, hooks that interrupted a hook, and hooks
 * that were left by a longjmp.
 *
 * Between ring_enter and ring_leave the thread's ring is busy: a hook that runs
 * then, in a signal handler, uses the second ring (ring_nested_*).
 *
 * I1: only the owner stores to the producer's line, or the recorder while the
 * owner waits for it (see ring.c, ring_pool.c). I2: a record is complete before
 * `head` covers it. I3: a stamp is taken after `busy` was set.
 *
 * THE TURN. Reading the counter costs as much as the rest of a push. Stamps are
 * not needed to order events while only one thread records: its ring is in
 * order. So most events then reuse the previous stamp. `turn` in the shared
 * memory says whose ring may do so.
 *
 *	        recorder: only this ring has moved, and far, since its last look
 *	   0 ─────────────────▶ ring | RING_OFFERED ◀──┐
 *	   ▲                          │ owner: event    │ recorder: each look,
 *	   │                          ▼                 │ while that is so
 *	   └── other: event ──── ring ──────────────────┘
 *	       recorder: else
 *
 * I4: between the event with the stamp `stamp` and a moment at which `turn` is
 * seen to be this ring, no event of another ring was completed. Proof: a pusher
 * takes a stamp first, then reads `turn`, and clears it if it is another
 * ring's; a thread that accepts an offer takes its stamp after it saw the
 * offer. So a reused stamp is too early only by what its thread did alone: by
 * RING_STAMP_EVERY, or by the recorder's time between two looks if the thread
 * falls silent.
 */
#ifndef GNOMON_RING_H
#define GNOMON_RING_H

#include "arch.h"
#include "preload/ring/producer.h"
#include "preload/ring/ring_shared.h"

/* For an event that, after its stamp, found `turn` to be another ring's. May
 * take a new stamp. */
void ring_turn(struct gl_shared *shared, struct gl_ring *ring);

/* Handles the recorder's requests after RING_ASKED, which the caller has
 * cleared. */
void ring_answer(struct gl_shared *shared);

/* A setting for all threads has changed (producer's `generation`): each thread
 * applies it at one of its next events. Taking away the room in their rings
 * makes them check. */
void ring_change(struct producer *p);

/* Makes room for one record. False: the event is lost, and was counted. */
bool ring_make_room(struct producer *p, struct gl_ring *ring);

/* Whether the hook that set `busy` was unwound. sp: of the calling hook, as in
 * ring_enter. */
bool ring_stale(const struct thread *thread, const struct gl_ring *ring,
		uintptr_t sp);

/* Ends the work of an unwound hook, also its wait for room. The owner. */
void ring_abandon(struct producer *p, struct gl_ring *ring);

/* All fields of an event. */
struct ring_event {
	unsigned kind;		/* enum gt_event, perhaps GL_KIND_STACK */
	enum gt_extra what;	/* GT_EXTRA only, as are the arguments */
	uint64_t stamp;
	uint64_t address;	/* word 1 */
	uint64_t size;
	uint32_t context;
	uint64_t args[GT_EXTRA_ARGS];
};

/* Pushes an event into the second ring. */
void ring_nested_push(struct producer *p, struct thread *thread,
		      const struct ring_event *event);

/* Pushes a GT_EXTRA into the first ring, also while recording is off. */
void ring_push_extra_dormant(struct producer *p, struct gl_ring *ring,
			     const struct ring_event *event);

/* Low bit of `busy`, in addition to the stack pointer: the owner runs a real
 * function that may call our hooks (real.reenters), and pushes nothing. */
#define RING_IN_REAL UINT64_C(2)
/* Flag in hooks_in_real: that function never frees a block that it allocated,
 * so a free in it concerns a block of the program. */
#define RING_IN_NEW UINT64_C(4)

static inline bool ring_idle(const struct gl_ring *ring)
{
	/* the thread's own variable: no order needed */
	return arch_word_is(&ring->busy, GL_IDLE);
}

/* sp, ra: the hook's stack pointer after its return, and where it returns to. */
static inline void ring_enter(struct gl_ring *ring, uintptr_t sp,
			      uintptr_t ra)
{
	ring->owner = ra;
	atomic_store_explicit(&ring->busy, sp, memory_order_relaxed);
	/* I3: a handler on this thread, and nearly always the recorder, sees it
	 * before the stamp exists; the merge window covers the remaining
	 * cases */
	atomic_signal_fence(memory_order_seq_cst);
}

static inline void ring_leave(struct gl_ring *ring)
{
	/* pairs with the acquire of drain_scan: idle means head is current */
	atomic_store_explicit(&ring->busy, GL_IDLE, memory_order_release);
}

/* Stamps are as in word 0 of a record, without the kind. */
static inline uint64_t ring_cycles(void)
{
	return arch_cycles() << GL_KIND_BITS;
}

/* Events that start in the first RING_STAMP_FOR of each RING_STAMP_EVERY bytes
 * get stamps of their own: once in some 25 pairs. */
#define RING_STAMP_EVERY 1024
#define RING_STAMP_FOR 64

/* Whether the last stamp can be reused (I4), if `turn` is this ring. */
static inline bool ring_stamp_lasts(const struct gl_ring *ring)
{
	return arch_word_has(&ring->head, RING_STAMP_EVERY - RING_STAMP_FOR);
}

/* Stores the stamp of an event in ring->stamp: the last one, or a new one.
 * False: call ring_turn next. */
static inline bool ring_stamp_simple(const struct gl_shared *shared,
				     struct gl_ring *ring)
{
	if (likely(arch_word_is(&shared->turn, (uintptr_t)ring)) &&
	    likely(ring_stamp_lasts(ring)))
		return true;
	ring->stamp = ring_cycles();
	atomic_signal_fence(memory_order_seq_cst);
	return likely(!ring_turn_of(shared)) ||
	       arch_word_is(&shared->turn, (uintptr_t)ring);
}

static inline void ring_stamp(struct gl_shared *shared, struct gl_ring *ring)
{
	if (unlikely(!ring_stamp_simple(shared, ring)))
		ring_turn(shared, ring);
}

/* The same for a free, which needs a new stamp even less often. False: call
 * ring_stamp. */
static inline bool ring_stamp_fast(struct gl_shared *shared,
				   struct gl_ring *ring)
{
	if (likely(arch_word_is(&shared->turn, (uintptr_t)ring)))
		return true;	/* I4 */
	if (unlikely(ring_turn_of(shared)))
		return false;
	ring->stamp = ring_cycles();
	atomic_signal_fence(memory_order_seq_cst);
	return likely(!ring_turn_of(shared));
}

/* Makes room for a record, at *head. */
static inline bool ring_reserve(struct producer *p, struct gl_ring *ring,
				uint64_t *head)
{
	*head = atomic_load_explicit(&ring->head, memory_order_relaxed);
	if (unlikely(*head >= ring->limit)) {
		if (!ring_make_room(p, ring))
			return false;
		*head = atomic_load_explicit(&ring->head,
					     memory_order_relaxed);
	}
	return true;
}

static inline uint64_t *ring_record(const struct gl_ring *ring, uint64_t head)
{
	return (uint64_t *)(uintptr_t)(ring->base + head);
}

/* Prefetches the place of the next record, an EXTRA that follows a long
 * operation. */
static inline void ring_fetch(const struct gl_ring *ring)
{
	const uint64_t *word = ring_record(
		ring, atomic_load_explicit(&ring->head, memory_order_relaxed));

	__builtin_prefetch(word, 1);
	__builtin_prefetch(word + RING_RECORD_MAX / sizeof(*word), 1);
}

/* Pushes GT_ALLOC, GT_REALLOC_DONE, unless the ring is full or the size large.
 * Returns whether. */
static inline bool ring_push_block_fast(struct gl_ring *ring, unsigned kind,
					uint64_t address, uint32_t context,
					uint64_t size)
{
	uint64_t head = atomic_load_explicit(&ring->head,
					     memory_order_relaxed);
	uint64_t *word;

	if (unlikely(head >= ring->limit) || unlikely(size > INT32_MAX))
		return false;
	word = ring_record(ring, head);
	word[0] = ring->stamp | kind;
	word[1] = address;
	word[2] = context | size << 32;
	/* pairs with the acquire of drain_scan */
	atomic_store_explicit(&ring->head, head + 24, memory_order_release);
	return true;
}

/* The same for all cases. */
static inline void ring_push_block(struct producer *p, struct gl_ring *ring,
				   unsigned kind, uint64_t address,
				   uint32_t context, uint64_t size)
{
	uint64_t head, *word;
	bool big = size >= GL_SIZE_BIG;

	if (unlikely(!ring_reserve(p, ring, &head)) ||
	    likely(ring_push_block_fast(ring, kind, address, context, size)))
		return;
	word = ring_record(ring, head);
	word[0] = ring->stamp | kind;
	word[1] = address;
	word[2] = context | (big ? GL_SIZE_BIG : size) << 32;
	if (big)
		word[3] = size;
	/* pairs with the acquire of drain_scan */
	atomic_store_explicit(&ring->head, head + (big ? 32 : 24),
			      memory_order_release);
}

/* Pushes the other kinds, if ring and stamp allow it. Returns whether. */
static inline bool ring_push_address_fast(struct gl_shared *shared,
					  struct gl_ring *ring, unsigned kind,
					  uint64_t address)
{
	uint64_t head = atomic_load_explicit(&ring->head,
					     memory_order_relaxed);
	uint64_t *word;

	if (unlikely(head >= ring->limit) ||
	    unlikely(!ring_stamp_fast(shared, ring)))
		return false;
	word = ring_record(ring, head);
	word[0] = ring->stamp | kind;
	word[1] = address;
	/* pairs with the acquire of drain_scan */
	atomic_store_explicit(&ring->head, head + 16, memory_order_release);
	return true;
}

static inline uint64_t ring_word2(const struct ring_event *event)
{
	uint64_t high = event->kind == GT_EXTRA ? event->what : GL_SIZE_BIG;

	return event->context | high << 32;
}

static inline void ring_put_extra(struct gl_ring *ring,
				  const struct ring_event *event, uint64_t head)
{
	uint64_t *word = ring_record(ring, head);
	unsigned i;

	word[0] = event->stamp | GT_EXTRA;
	word[1] = event->address;
	word[2] = ring_word2(event);
	word[3] = event->size;
	for (i = 0; i < GT_EXTRA_ARGS; i++)
		word[4 + i] = event->args[i];
	/* pairs with the acquire of drain_scan */
	atomic_store_explicit(&ring->head, head + RING_RECORD_MAX,
			      memory_order_release);
}

/* GT_EXTRA. */
static inline void ring_push_extra(struct producer *p, struct gl_ring *ring,
				   const struct ring_event *event)
{
	uint64_t head;

	if (likely(ring_reserve(p, ring, &head)))
		ring_put_extra(ring, event, head);
}

/* Pushes GT_FREE, GT_REALLOC_BEGIN with the context of the caller; 0:
 * unknown. */
static inline void ring_push_stacked(struct producer *p, struct gl_ring *ring,
				     unsigned kind, uint64_t stamp,
				     uint64_t address, uint32_t context)
{
	uint64_t head, *word;

	if (unlikely(!ring_reserve(p, ring, &head)))
		return;
	word = ring_record(ring, head);
	word[0] = stamp | kind | (context ? GL_KIND_STACK : 0);
	word[1] = address;
	if (context)
		word[2] = context;
	/* pairs with the acquire of drain_scan */
	atomic_store_explicit(&ring->head, head + (context ? 24 : 16),
			      memory_order_release);
}

/* Pushes the other kinds. */
static inline void ring_push_address(struct producer *p, struct gl_ring *ring,
				     unsigned kind, uint64_t stamp,
				     uint64_t address)
{
	ring_push_stacked(p, ring, kind, stamp, address, 0);
}

#endif
