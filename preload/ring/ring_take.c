/*
 * ring_take.c: takes a ring for a thread of the target. See ring_pool.h; the
 * free lists are in ring_pool.c.
 *
 * I1: ring_pool_take is lock-free: a handler that interrupted it may also take.
 */
#include "preload/ring/ring_take.h"

#include "preload/base/sys.h"
#include "preload/ring/timeout.h"

#define RING_POOL_NAP_NS (250 * UINT64_C(1000000))

/* A thread waits while the recorder makes progress, a signal handler for a part
 * of the recorder's timeout. */
static const uint64_t ring_pool_patience_ns[RECORDER_POOLS] = {
	TIMEOUT_NS, TIMEOUT_NS / 5
};

static uint32_t ring_pool_pop(struct gl_shared *shared,
			      enum recorder_pool which)
{
	uint64_t head = atomic_load_explicit(&shared->ring_free[which],
					     memory_order_acquire);
	uint64_t next;
	uint32_t id;

	do {
		id = (uint32_t)head;
		if (!id || !ASSERT(id <= GL_RINGS_MAX))
			return 0;
		next = atomic_load_explicit(&shared->ring_next[id - 1],
					    memory_order_relaxed);
		next |= ((head >> 32) + 1) << 32;
		/* pairs with the release of ring_push_free */
	} while (!atomic_compare_exchange_weak_explicit(
		&shared->ring_free[which], &head, next, memory_order_acquire,
		memory_order_acquire));
	atomic_fetch_sub_explicit(&shared->ring_count[which], 1,
				  memory_order_relaxed);
	return id;
}

/* Wakes the recorder before the list is empty, while no thread waits. */
static void ring_pool_taken(struct producer *p, struct gl_shared *shared,
			    enum recorder_pool which)
{
	uint32_t left = atomic_load_explicit(&shared->ring_count[which],
					     memory_order_relaxed);

	atomic_fetch_add_explicit(&shared->ring_taken[which], 1,
				  memory_order_relaxed);
	if (left >= atomic_load_explicit(&shared->ring_alarm[which],
					 memory_order_relaxed))
		return;
	atomic_store_explicit(&shared->ring_short, 1, memory_order_relaxed);
	recorder_wake(p);
}

/* Waits for the next ring that the recorder makes or gets back; 0: it has no
 * memory for one, or is stalled. */
static uint32_t ring_pool_wait(struct producer *p, struct gl_shared *shared,
			       enum recorder_pool which)
{
	struct timeout timeout = timeout_begin(p, ring_pool_patience_ns[which]);
	uint32_t id, seen;

	do {
		seen = atomic_load_explicit(&shared->ring_refills[which],
					    memory_order_acquire);
		id = ring_pool_pop(shared, which);
		if (id || atomic_load_explicit(&shared->ring_exhausted[which],
					       memory_order_relaxed) ||
		    !recorder_alive(p) || timeout_given_up(p))
			return id;
		/* other threads may have been faster, any number of times */
		if (which == RECORDER_PRIMARY)
			timeout_renewed(p, &timeout);
		atomic_store_explicit(&shared->ring_wanted[which], 1,
				      memory_order_release);
		recorder_wake(p);
		recorder_nap(p, &shared->ring_refills[which], seen,
			     RING_POOL_NAP_NS);
	} while (!timeout_ended(&timeout));
	if (which == RECORDER_PRIMARY)
		timeout_give_up(p);
	return ring_pool_pop(shared, which);
}

uint32_t ring_pool_take(struct producer *p, enum recorder_pool which)
{
	struct gl_shared *shared = p->shared;
	uint32_t id;

	if (unlikely(!shared))
		return 0;	/* a child (fork_copy.h) */
	id = ring_pool_pop(shared, which);
	if (!id)
		id = ring_pool_wait(p, shared, which);
	if (id)
		ring_pool_taken(p, shared, which);
	DEBUG_ASSERT(ring_list_is_valid(shared, which));
	return id;
}

#ifdef GNOMON_DEBUG_ASSERTS
bool ring_list_is_valid(const struct gl_shared *shared,
			enum recorder_pool which)
{
	uint64_t head = atomic_load_explicit(&shared->ring_free[which],
					     memory_order_acquire);
	uint32_t id, steps = 0;

	/* others may change it meanwhile: even then no link is out of bounds */
	for (id = (uint32_t)head; id && steps <= GL_RINGS_MAX; steps++) {
		if (id > GL_RINGS_MAX)
			return false;
		id = atomic_load_explicit(&shared->ring_next[id - 1],
					  memory_order_relaxed);
	}
	/* a cycle, unless the list has changed */
	return steps <= GL_RINGS_MAX ||
	       head != atomic_load_explicit(&shared->ring_free[which],
					    memory_order_acquire);
}
#endif
