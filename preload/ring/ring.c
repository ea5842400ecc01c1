/*
 * ring.c: the slow half of pushing an event. See ring.h.
 *
 * A FULL RING. `limit` makes the producer check the state from time to time:
 *
 *	0 %            50 %                     100 %
 *	├── push ───────┼── wake the recorder, ───┤ wait for tail to move
 *	                │   go on to 100 %        │ (or drop)
 *
 * It also checks at the end of the data, because there `base` changes.
 *
 * To wait, the producer sets `waiting` and sleeps on the low half of tail. The
 * recorder that moved tail clears `waiting` and wakes it. While the recorder
 * gives the ring more room, `waiting` is RING_HELD and the producer keeps
 * waiting.
 *
 *	            producer                 recorder
 *	  0 ──▶ RING_WAITS ─────────────▶ RING_HELD
 *	  ▲          │ time-out               │ exchanged
 *	  └──────────┴────────────────────────┘
 *
 * If the recorder makes no progress for RING_TIMEOUT, or is dead, events are
 * dropped and counted until it does.
 *
 * THE SECOND RING takes the events of hooks that run while the first ring is
 * busy, which is only possible in a signal handler. Such hooks can themselves
 * be interrupted, at each instruction, so records are reserved first and
 * completed in any nesting order; word 0 is stored last.
 *
 *	word 0 of the record at head:   its value of a lap ago ──▶ 0
 *	head:                           head ──▶ head + a record
 *
 * Both are compare-and-swaps. A handler in between that reserves the record
 * itself changes head permanently; and, once it has completed the record, word
 * 0, as a stamp does not recur within a lap.
 *
 * I1: word 0 is 0 before head covers it. I2: a reserved record is written only
 * by the hook that reserved it.
 *
 * All functions: any thread of the target, also in signal handlers.
 */
#include "preload/ring/ring.h"

#include "preload/base/sys.h"
#include "preload/ring/arenas.h"
#include "preload/ring/gate.h"
#include "preload/ring/live_map.h"
#include "preload/ring/timeout.h"
#include "preload/ring/ring_take.h"
#include "preload/ring/replaced_code.h"
#include "preload/ring/stale_cpus.h"
#include "unwind/abandoned.h"

#define RING_NAP_NS (50 * UINT64_C(1000000))
#define RING_NESTED_NAPS 2	/* a handler waits at most this long */
#define RING_STEP (UINT64_C(64) << 10)	/* the kernel's fault_around_bytes */

static void ring_drop(struct producer *p, struct gl_ring *ring)
{
	ring->dropped++;
	/* only a count; the recorder reports it */
	atomic_fetch_add_explicit(&p->live->dropped, 1, memory_order_relaxed);
}

void ring_answer(struct gl_shared *shared)
{
	replaced_code_take(shared);
	arenas_answer(shared);
}

BASE_SLOW void ring_turn(struct gl_shared *shared, struct gl_ring *ring)
{
	uint64_t own = (uintptr_t)ring, turn = RING_ASKED;

	if (unlikely(ring_turn_of(shared) == turn)) {
		/* one thread is enough */
		if (atomic_compare_exchange_strong_explicit(
			    &shared->turn, &turn, 0, memory_order_seq_cst,
			    memory_order_relaxed))
			ring_answer(shared);
		return;
	}
	turn = own | RING_OFFERED;
	/* fails if it is not offered to us, or was withdrawn meanwhile */
	if (!atomic_compare_exchange_strong_explicit(&shared->turn, &turn, own,
						     memory_order_seq_cst,
						     memory_order_relaxed))
		atomic_store_explicit(&shared->turn, 0, memory_order_relaxed);
	else
		ring->stamp = ring_cycles();
}

/* Makes sure that the owner has mapped the ring's data, which may be new. */
static bool ring_has_data(struct gl_ring *ring)
{
	if (unlikely(!ring->data))
		ring->base = ring->data =
			(uintptr_t)live_map_data(ring->offset);
	return ring->data != 0;
}

static uint64_t ring_used(const struct gl_ring *ring)
{
	/* pairs with the release of drain_advance: older records are in the
	 * trace and may be overwritten */
	return atomic_load_explicit(&ring->head, memory_order_relaxed) -
	       atomic_load_explicit(&ring->tail, memory_order_acquire);
}

/* How far to push before the next check. In its first lap a ring touches its
 * pages in steps, by a read: that maps all prepared pages around
 * (ring_pool_ready), whereas a write maps only one. */
static uint64_t ring_step(const struct gl_ring *ring, uint64_t head, uint64_t room)
{
	/* a record that begins before the step's end may run over it */
	uint64_t next = head + RING_RECORD_MAX;
	uintptr_t at = ring->data + next;

	if (head > ring->mask)
		return room;
	(void)__atomic_load_n((const uint8_t *)at, __ATOMIC_RELAXED);
	return base_min(room, next + RING_STEP - at % RING_STEP);
}

/* Whether a record fits; sets the next point to check. */
static bool ring_fits(struct producer *p, struct gl_ring *ring)
{
	uint64_t size = ring->mask + 1, used = ring_used(ring);
	uint64_t head = atomic_load_explicit(&ring->head,
					     memory_order_relaxed);

	if (unlikely(!ring_has_data(ring)))
		return false;
	/* else records would be written anywhere. (`used` may be anything: a
	 * handler may have pushed, and the recorder taken, between its
	 * halves.) */
	if (!ASSERT(!(size & ring->mask)))
		return false;
	if (used + RING_RECORD_MAX <= size / 2) {
		ring_place(ring, head, ring_step(ring, head, head - used + size / 2));
		return true;
	}
	if (used + RING_RECORD_MAX > size)
		return false;
	recorder_wake(p);
	ring_place(ring, head, ring_step(ring, head, head - used + size));
	return true;
}

/* The owner stops waiting: from here on the recorder must not exchange the
 * ring. */
static void ring_take_back(struct producer *p, struct gl_ring *ring)
{
	struct timeout timeout;
	uint32_t mine = RING_WAITS;

	if (likely(!atomic_load_explicit(&ring->waiting,
					 memory_order_acquire)))
		return;
	timeout = timeout_begin(p, TIMEOUT_NS);
	while (!atomic_compare_exchange_strong_explicit(
		       &ring->waiting, &mine, 0, memory_order_acq_rel,
		       memory_order_acquire)) {
		if (mine == 0)
			return;
		/* held: the recorder is about to exchange the ring */
		recorder_nap(p, &ring->waiting, mine, RING_NAP_NS);
		if (!recorder_alive(p)) {
			/* it may have died during the exchange; a child that
			 * was forked here has no recorder (fork_copy.h) */
			if (producer_is_on(p))
				recorder_lost(p);
			return;
		}
		/* only a recorder that was stopped just then holds a ring so
		 * long, or the word was overwritten. The owner of the ring is
		 * unknown: nothing is pushed any more. */
		if (!timeout_renewed(p, &timeout) &&
		    timeout_ended(&timeout)) {
			producer_set_off(p);
			return;
		}
		mine = RING_WAITS;
	}
}

void ring_abandon(struct producer *p, struct gl_ring *ring)
{
	if (p->shared)
		ring_take_back(p, ring);
	/* it may have got the turn, but no stamp yet (I4) */
	ring->stamp = ring_cycles();
	ring_leave(ring);
}

/* Sleeps until the recorder has made room, at most a nap. */
static void ring_nap(struct producer *p, struct gl_ring *ring)
{
	uint64_t tail = atomic_load_explicit(&ring->tail,
					     memory_order_acquire);

	/* pairs with the acquire in drain_reply */
	atomic_store_explicit(&ring->waiting, RING_WAITS,
			      memory_order_seq_cst);
	recorder_wake(p);
	if (atomic_load_explicit(&ring->tail, memory_order_seq_cst) == tail)
		recorder_nap(p, ring_tail_word(ring), (uint32_t)tail,
			     RING_NAP_NS);
	ring_take_back(p, ring);
}

/* Waits for room; false if there will be none. */
static bool ring_wait(struct producer *p, struct gl_ring *ring)
{
	struct timeout timeout = timeout_begin(p, TIMEOUT_NS);

	atomic_fetch_add_explicit(&p->shared->ring_waits, 1,
				  memory_order_relaxed);
	do {
		ring_nap(p, ring);
		if (!producer_is_on(p))
			return false;
		if (ring_fits(p, ring))
			return true;
		if (unlikely(!ring->data))
			return false;	/* the ring has grown, and its data
					 * cannot be mapped */
		if (!recorder_alive(p)) {
			recorder_lost(p);
			break;
		}
	} while (timeout_renewed(p, &timeout) || !timeout_ended(&timeout));
	timeout_give_up(p);
	return false;
}

void ring_change(struct producer *p)
{
	/* pairs with the acquire of skip_thread, and the fence of
	 * ring_check_state */
	atomic_fetch_add_explicit(&p->generation, 1, memory_order_seq_cst);
	if (p->live)
		ring_kick(p->rings, atomic_load_explicit(&p->live->ring_count,
							 memory_order_acquire));
}

static void ring_set_skip(const struct gl_ring *ring, enum thread_skip why)
{
	if (producer_tls && producer_tls->own == ring)
		producer_set_skip(producer_tls, why, true);
}

/* Checks other reasons for the limit. The current event may be a half of a
 * realloc: so the next event applies the change (skip.c). */
static void ring_check_state(const struct producer *p,
			     const struct gl_ring *ring, bool kicked)
{
	const struct thread *thread = producer_tls;

	/* either the thread that changes a setting finds the limit that was
	 * just set, or we find the change: pairs with the addition of
	 * ring_change */
	atomic_thread_fence(memory_order_seq_cst);
	if (kicked || (thread && producer_is_behind(p, thread)))
		ring_set_skip(ring, THREAD_CHANGED);
}

/* Whether there is room, or was after a wait if waits are allowed. */
static bool ring_gets_room(struct producer *p, struct gl_ring *ring)
{
	return ring_fits(p, ring) ||
	       (ring->data &&
		producer_options.number[OPTION_OVERFLOW] !=
			OPTION_OVERFLOW_DROP &&
		!timeout_given_up(p) && ring_wait(p, ring));
}

BASE_SLOW bool ring_make_room(struct producer *p, struct gl_ring *ring)
{
	bool kicked = !__atomic_load_n(&ring->limit, __ATOMIC_RELAXED);
	const struct gl_shared *shared = p->shared;

	if (!shared || !producer_is_on(p)) {
		/* recording has ended: this thread no longer checks here */
		if (producer_tls && producer_tls->own == ring)
			producer_tls->ring = NULL;
		return false;
	}
	if (gate_is_closed(shared)) {
		/* not a loss: recording is off */
		ring_set_skip(ring, THREAD_DORMANT);
		return false;
	}
	if (ring_gets_room(p, ring)) {
		DEBUG_ASSERT(ring_is_valid(ring));
		stale_cpus_drop(p);
		ring_check_state(p, ring, kicked);
		return true;
	}
	if (producer_is_on(p))
		ring_drop(p, ring);
	return false;
}

bool ring_stale(const struct thread *thread, const struct gl_ring *ring,
		uintptr_t sp)
{
	uint64_t busy = atomic_load_explicit(&ring->busy,
					     memory_order_relaxed);
	uintptr_t owner = busy & ~(RING_IN_REAL | RING_IN_NEW);

	/* most probably called back by the real function */
	if (busy & RING_IN_REAL && sp < owner &&
	    !abandoned_perhaps(thread->capture, owner, ring->owner))
		return false;
	return abandoned(thread->capture, owner, ring->owner, sp);
}

static struct gl_ring *ring_nested(struct producer *p, struct thread *thread)
{
	struct gl_ring *ring = thread->nested, *first = NULL;
	struct gl_ring *rings = p->rings, *own = thread->own;
	struct gl_shared *shared = p->shared;
	struct gl_thread *report = thread->report;
	uint32_t id;

	if (ring)
		return ring;
	if (unlikely(!rings) || unlikely(!own) || unlikely(!shared) ||
	    unlikely(!report))
		return NULL;	/* a child (fork_copy.h) */
	id = ring_pool_take(p, RECORDER_NESTED);
	if (!id)
		return NULL;
	ring = &rings[id - 1];
	if (unlikely(!ring_has_data(ring))) {
		ring_push_free(shared, RECORDER_NESTED, id);
		return NULL;
	}
	DEBUG_ASSERT(ring_is_valid(ring));
	ring->tid = own->tid;
	ring->flags = GT_THREAD_NESTED |
		      (thread->is_main ? GT_THREAD_MAIN : 0);
	ring->pointer = own->pointer;
	ring->start_stamp = arch_cycles();
	/* pairs with the acquire of drain_scan */
	__atomic_store_n(&ring->state, GL_RING_ACTIVE, __ATOMIC_RELEASE);
	/* a handler in between may have made one too: then this one stays
	 * empty until the thread ends */
	if (!__atomic_compare_exchange_n(&thread->nested, &first, ring, false,
					 __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		return first;
	atomic_store_explicit(&report->nested, id, memory_order_relaxed);
	return ring;
}

/*
 * Whether there is room after `head`, or was after a short wait. If the
 * recorder makes progress, but this ring does not, a handler has abandoned its
 * oldest record. Only progress of the first ring can prove that
 * (nested_ring.h): until then no hook of the thread waits again.
 */
static bool ring_nested_room(struct producer *p, struct thread *thread,
			     const struct gl_ring *ring, uint64_t head)
{
	uint64_t first = atomic_load_explicit(&thread->own->head,
					      memory_order_relaxed);
	uint64_t beats = timeout_beats(p);
	unsigned naps;

	for (naps = 0;; naps++) {
		/* pairs with the release of drain_advance, as in ring_used */
		uint64_t tail = atomic_load_explicit(&ring->tail,
						     memory_order_acquire);

		if (head - tail + RING_RECORD_MAX <= ring->mask + 1)
			return true;
		if (naps == RING_NESTED_NAPS) {
			if (timeout_beats(p) != beats) {
				thread->vain = tail + 1;
				thread->vain_head = first;
			}
			return false;
		}
		if (timeout_given_up(p) || (thread->vain == tail + 1 &&
					    thread->vain_head == first))
			return false;
		recorder_wake(p);
		/* without `waiting`: the outer hook may be using it already */
		recorder_nap(p, ring_tail_word(ring), (uint32_t)tail,
			     RING_NAP_NS);
	}
}

/* Reserves the record at `head`; NULL: a handler came in between (I1, I2). */
static _Atomic uint64_t *ring_nested_take(struct gl_ring *ring, uint64_t head)
{
	_Atomic uint64_t *word = (_Atomic uint64_t *)(uintptr_t)
		(ring->data + (head & ring->mask));
	/* read before head: its value while the record was not reserved */
	uint64_t old = atomic_load_explicit(&word[0], memory_order_acquire);

	if (atomic_load_explicit(&ring->head, memory_order_relaxed) != head ||
	    !atomic_compare_exchange_strong_explicit(
		    &word[0], &old, 0, memory_order_relaxed,
		    memory_order_relaxed))
		return NULL;
	ASSERT(head % RING_RECORD_MAX == 0);
	/* pairs with the acquire of drain_scan: the zero is seen first */
	if (!atomic_compare_exchange_strong_explicit(
		    &ring->head, &head, head + RING_RECORD_MAX,
		    memory_order_release, memory_order_relaxed))
		return NULL;
	return word;
}

/* Reserves a record to be completed; NULL: there is no room. */
static _Atomic uint64_t *ring_nested_reserve(struct producer *p,
					     struct thread *thread,
					     struct gl_ring *ring)
{
	_Atomic uint64_t *word = NULL;

	while (!word) {
		uint64_t head = atomic_load_explicit(&ring->head,
						     memory_order_relaxed);

		if (!ring_nested_room(p, thread, ring, head))
			return NULL;
		word = ring_nested_take(ring, head);
	}
	return word;
}

/* Ignores the limit, which does not reflect the room while recording is off. */
BASE_SLOW void ring_push_extra_dormant(struct producer *p,
				       struct gl_ring *ring,
				       const struct ring_event *event)
{
	if (ring_gets_room(p, ring))
		ring_put_extra(ring, event,
			       atomic_load_explicit(&ring->head,
						    memory_order_relaxed));
	else if (producer_is_on(p))
		ring_drop(p, ring);
}

BASE_SLOW void ring_nested_push(struct producer *p, struct thread *thread,
				const struct ring_event *event)
{
	struct gl_shared *shared = p->shared;
	_Atomic uint64_t *word;
	struct gl_ring *ring;
	unsigned i;

	if (unlikely(!shared) || unlikely(!thread->own))
		return;		/* a child (fork_copy.h) */
	ring = ring_nested(p, thread);
	/* another ring than the thread's first: its turn is over, too (I4) */
	if (ring_turn_of(shared))
		atomic_store_explicit(&shared->turn, 0, memory_order_relaxed);

	atomic_fetch_add_explicit(&shared->nested_events, 1,
				  memory_order_relaxed);
	word = ring ? ring_nested_reserve(p, thread, ring) : NULL;
	if (!word) {
		/* in this order: a handler may jump out in between */
		atomic_fetch_add_explicit(&p->live->dropped, 1,
					  memory_order_relaxed);
		atomic_fetch_add_explicit(&shared->nested_lost, 1,
					  memory_order_relaxed);
		return;
	}
	atomic_store_explicit(&word[1], event->address, memory_order_relaxed);
	atomic_store_explicit(&word[2], ring_word2(event),
			      memory_order_relaxed);
	atomic_store_explicit(&word[3], event->size, memory_order_relaxed);
	for (i = 0; i < GT_EXTRA_ARGS; i++)
		atomic_store_explicit(&word[4 + i], event->args[i],
				      memory_order_relaxed);
	/* pairs with the acquire of encode_nested_end */
	atomic_store_explicit(&word[0], event->stamp | event->kind,
			      memory_order_release);
}
