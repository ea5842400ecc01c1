/*
 * pool.c: memory of rings. See pool.h for who makes which transition.
 *
 * The data region of the live mapping:
 *
 *	| gl_ring 0 | gl_ring 1 | … | data of a ring | data | … | free … |
 *	 <- GL_RINGS_MAX headers ->                              ^ used
 *
 * Each id keeps its block of data for its next generation. Blocks that were
 * exchanged for larger ones go to a free list by size, linked by their first
 * word (an offset, so that the list means the same in a file).
 *
 * The free lists of rings are stacks whose head carries a tag that counts
 * changes (Treiber, with the ABA problem solved by the tag).
 *
 * I1: an id is in a free list, or its ring's state is ACTIVE, or a thread is
 *     between the two.
 * I2: pool_take is lock-free: also a handler that interrupted it may take.
 */
#include "preload/pool.h"

#include "preload/log.h"
#include "preload/patience.h"
#include "preload/ring.h"
#include "preload/sys.h"

#define POOL_NAP_NS (250 * UINT64_C(1000000))
#define POOL_MAIN_CLASS 20	/* 1 MiB: the main thread's first ring */
#define POOL_GROW_CLASSES 2	/* fourfold */
#define POOL_NESTED_CLASS 13	/* 8 KiB */
#define POOL_GROW_EIGHTHS 4	/* the other half is for new threads */
#define POOL_BATCH 8		/* made when a thread had to wait */
#define POOL_AHEAD_MAX 128	/* kept ready, where threads come fast */
#define POOL_AHEAD_SINK 16	/* a part of them less at each refill */

static const uint32_t pool_low[RECORDER_POOLS] = { 4, 1 };
/* A thread waits while the writer moves, a signal handler for a part of the
 * time after which that one is taken to be stuck. */
static const uint64_t pool_patience_ns[RECORDER_POOLS] = {
	PATIENCE_NS, PATIENCE_NS / 5
};

static uint32_t pool_pop(struct gl_shared *shared, enum recorder_pool which)
{
	uint64_t head = atomic_load_explicit(&shared->ring_free[which],
					     memory_order_acquire);
	uint64_t next;
	uint32_t id;

	do {
		id = (uint32_t)head;
		if (!id)
			return 0;
		next = atomic_load_explicit(&shared->ring_next[id - 1],
					    memory_order_relaxed);
		next |= ((head >> 32) + 1) << 32;
		/* pairs with the release of pool_push */
	} while (!atomic_compare_exchange_weak_explicit(
		&shared->ring_free[which], &head, next, memory_order_acquire,
		memory_order_acquire));
	atomic_fetch_sub_explicit(&shared->ring_count[which], 1,
				  memory_order_relaxed);
	return id;
}

static void pool_push(struct gl_shared *shared, enum recorder_pool which,
		      uint32_t id)
{
	uint64_t head = atomic_load_explicit(&shared->ring_free[which],
					     memory_order_relaxed);
	uint64_t next;

	atomic_fetch_add_explicit(&shared->ring_count[which], 1,
				  memory_order_relaxed);
	do {
		atomic_store_explicit(&shared->ring_next[id - 1], (uint32_t)head,
				      memory_order_relaxed);
		next = id | ((head >> 32) + 1) << 32;
		/* pairs with the acquire of pool_pop */
	} while (!atomic_compare_exchange_weak_explicit(
		&shared->ring_free[which], &head, next, memory_order_release,
		memory_order_relaxed));
}

/* The writer is woken before there is nothing left, while nobody waits. */
static void pool_taken(struct recorder *r, struct gl_shared *shared,
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
	recorder_wake(r);
}

/* The next one that the writer makes or gets back; 0: it has no memory for
 * one, or there is no hope in it. */
static uint32_t pool_wait(struct recorder *r, struct gl_shared *shared,
			  enum recorder_pool which)
{
	struct patience patience = patience_begin(r, pool_patience_ns[which]);
	uint32_t id, seen;

	do {
		seen = atomic_load_explicit(&shared->ring_refills[which],
					    memory_order_acquire);
		id = pool_pop(shared, which);
		if (id || atomic_load_explicit(&shared->ring_exhausted[which],
					       memory_order_relaxed) ||
		    !recorder_writer_alive(r) || patience_lost(r))
			return id;
		/* others may have been faster, as often as they like */
		if (which == RECORDER_PRIMARY)
			patience_renewed(r, &patience);
		atomic_store_explicit(&shared->ring_hungry[which], 1,
				      memory_order_release);
		recorder_wake(r);
		recorder_nap(r, &shared->ring_refills[which], seen, POOL_NAP_NS);
	} while (!patience_ended(&patience));
	if (which == RECORDER_PRIMARY)
		patience_lose(r);
	return pool_pop(shared, which);
}

uint32_t pool_take(struct recorder *r, enum recorder_pool which)
{
	struct gl_shared *shared = r->shared;
	uint32_t id;

	if (unlikely(!shared))
		return 0;	/* a child (fork_copy.h) */
	id = pool_pop(shared, which);
	if (!id)
		id = pool_wait(r, shared, which);
	if (id)
		pool_taken(r, shared, which);
	return id;
}

static uint64_t pool_end(const struct pool *pool)
{
	return pool->live->size - pool->live->header->data_offset;
}

/* Offset (in the live file) of memory that nobody has had, 0 if there is none. */
static uint64_t pool_more(struct pool *pool, uint64_t bytes)
{
	uint64_t at = pool->live->header->data_offset + pool->used;

	if (pool->used + bytes > pool_end(pool) ||
	    live_reserve(pool->live, at, at + bytes))
		return 0;
	pool->used += bytes;
	return at;
}

/* The same of a block of this class. */
static uint64_t pool_block(struct pool *pool, unsigned class)
{
	uint64_t *list = &pool->free_offset[class - POOL_CLASS_MIN];
	uint64_t at = *list;

	if (at) {
		*list = *(uint64_t *)live_at(pool->live, at);
		return at;
	}
	return pool_more(pool, (UINT64_C(1) << class) + GL_RING_SLACK);
}

static void pool_give_back(struct pool *pool, uint64_t at, unsigned class)
{
	uint64_t *list = &pool->free_offset[class - POOL_CLASS_MIN];

	*(uint64_t *)live_at(pool->live, at) = *list;
	*list = at;
}

static unsigned pool_class_of(const struct gl_ring *ring)
{
	return 63 - __builtin_clzll(ring->mask + 1);
}

/* Share of the data region in use, in eighths. */
static unsigned pool_eighths(const struct pool *pool)
{
	uint64_t headers = GL_RINGS_MAX * sizeof(struct gl_ring);

	return (pool->used - headers) * 8 / (pool_end(pool) - headers);
}

/* Smaller rings for new threads as memory is used up: with the default budget
 * there is room for some 7000 of them. */
static unsigned pool_class(const struct pool *pool, enum recorder_pool which)
{
	static const uint8_t smaller[8] = { 0, 1, 2, 2, 3, 3, 8, 8 };
	unsigned eighths = pool_eighths(pool);
	unsigned class = pool->first_class;

	if (which == RECORDER_NESTED)
		return eighths < 4 ? POOL_NESTED_CLASS : POOL_CLASS_MIN;
	if (!pool->main_given && class < POOL_MAIN_CLASS)
		return POOL_MAIN_CLASS;
	class -= eighths < 8 ? smaller[eighths] : 8;
	return class < POOL_CLASS_MIN || class > POOL_CLASS_MAX ?
		       POOL_CLASS_MIN : class;
}

static void pool_set_data(struct pool *pool, struct gl_ring *ring,
			  uint64_t at, unsigned class)
{
	ring->offset = at;
	ring->data = (uintptr_t)live_at(pool->live, at);
	ring->mask = (UINT64_C(1) << class) - 1;
}

/* The ring in the state in which a thread finds it. */
static void pool_reset(struct gl_ring *ring)
{
	atomic_store_explicit(&ring->busy, GL_IDLE, memory_order_relaxed);
	atomic_store_explicit(&ring->tail, 0, memory_order_relaxed);
	atomic_store_explicit(&ring->head, 0, memory_order_relaxed);
	ring_place(ring, 0, (ring->mask + 1) / 2);
	ring->dropped = 0;
}

/* Room for the link of ring `id` in the free lists: a page of them at a time. */
static bool pool_link(struct pool *pool, uint32_t id)
{
	uint64_t at = pool->live->header->shared_offset +
		      offsetof(struct gl_shared, ring_next) +
		      id * sizeof(uint32_t);

	if (id < pool->links)
		return true;
	if (live_reserve(pool->live, at, at + GL_PAGE))
		return false;
	pool->links += GL_PAGE / sizeof(uint32_t);
	return true;
}

/* A struct gl_thread for it. */
static bool pool_thread(struct pool *pool, uint32_t id)
{
	uint64_t *piece = &pool->r->shared->threads[id / GL_THREADS];
	uint64_t bytes = GL_THREADS * sizeof(struct gl_thread), at;

	if (*piece)
		return true;
	at = pool_more(pool, bytes);
	if (!at)
		return false;
	*piece = at;
	return true;
}

static bool pool_add(struct pool *pool, enum recorder_pool which)
{
	struct live *live = pool->live;
	uint64_t *table = live_at(live, live->header->rings_offset);
	uint32_t id = pool->headers;
	uint64_t header = live->header->data_offset +
			  id * sizeof(struct gl_ring);
	unsigned class = pool_class(pool, which);
	struct gl_ring *ring = live_at(live, header);
	uint64_t at;

	if (id == GL_RINGS_MAX || !pool_link(pool, id) ||
	    !pool_thread(pool, id))
		return false;
	if (live_reserve(live, header, header + sizeof(*ring)))
		return false;
	for (at = 0; class >= POOL_CLASS_MIN && !at; class--)
		at = pool_block(pool, class);
	if (!at)
		return false;
	pool_set_data(pool, ring, at, class + 1);
	pool_reset(ring);
	ring->id = id;
	ring->flags = which == RECORDER_NESTED ? GT_THREAD_NESTED : 0;
	table[id] = header;
	pool->headers++;
	if (which == RECORDER_PRIMARY)
		pool->main_given = true;
	/* pairs with the acquire of whoever walks the table */
	atomic_store_explicit(&live->header->ring_count, id + 1,
			      memory_order_release);
	pool_push(pool->r->shared, which, id + 1);
	return true;
}

/* As many as were taken since the last time, twice. */
static uint32_t pool_ahead(struct pool *pool, enum recorder_pool which)
{
	struct gl_shared *shared = pool->r->shared;
	uint32_t taken = atomic_exchange_explicit(&shared->ring_taken[which],
						  0, memory_order_relaxed);
	uint32_t ahead = pool->ahead[which];

	ahead -= (ahead + POOL_AHEAD_SINK - 1) / POOL_AHEAD_SINK;
	ahead = base_max(ahead, base_min(2 * taken, POOL_AHEAD_MAX));
	ahead = base_max(ahead, pool_low[which]);
	pool->ahead[which] = ahead;
	atomic_store_explicit(&shared->ring_alarm[which], ahead / 2,
			      memory_order_relaxed);
	return ahead;
}

/* As many threads as there are rings: of thousands that wait, the others
 * would only be in the way. */
static void pool_rouse(struct recorder *r, enum recorder_pool which,
		       uint32_t rings)
{
	struct gl_shared *shared = r->shared;

	if (!rings) {
		/* there is no memory, and nothing to wait for */
		sys_futex_wake(&shared->ring_refills[which]);
		return;
	}
	if (sys_futex_wake_some(&shared->ring_refills[which], rings) < rings)
		return;
	/* more may be waiting */
	atomic_store_explicit(&shared->ring_hungry[which], 1,
			      memory_order_release);
	recorder_wake(r);
}

static void pool_refill_one(struct pool *pool, enum recorder_pool which)
{
	struct gl_shared *shared = pool->r->shared;
	uint32_t want = pool_ahead(pool, which);
	bool hungry = atomic_exchange_explicit(&shared->ring_hungry[which], 0,
					       memory_order_acquire);
	uint32_t there = atomic_load_explicit(&shared->ring_count[which],
					      memory_order_relaxed);

	/* where many came, more will come: each refill waits for a whole pass
	 * over the rings that there are */
	if (hungry)
		want = POOL_BATCH + pool->headers / 8;
	for (; there < want; there++) {
		if (pool_add(pool, which))
			continue;
		atomic_store_explicit(&shared->ring_exhausted[which],
				      there == 0, memory_order_relaxed);
		break;
	}
	if (!hungry)
		return;
	atomic_fetch_add_explicit(&shared->ring_refills[which], 1,
				  memory_order_release);
	pool_rouse(pool->r, which, there);
}

void pool_refill(struct pool *pool)
{
	pool_refill_one(pool, RECORDER_PRIMARY);
	pool_refill_one(pool, RECORDER_NESTED);
}

void pool_init(struct pool *pool, struct recorder *r, struct live *live,
	       uint64_t ring_bytes)
{
	pool->r = r;
	pool->live = live;
	pool->used = GL_RINGS_MAX * sizeof(struct gl_ring);
	pool->first_class = POOL_CLASS_MIN;
	while (pool->first_class < POOL_CLASS_MAX &&
	       (UINT64_C(1) << pool->first_class) < ring_bytes)
		pool->first_class++;
	/* the last one in is the first one out: the main thread's */
	pool->main_given = true;
	pool_refill(pool);
	pool->main_given = false;
	pool_add(pool, RECORDER_PRIMARY);
}

void pool_close(struct pool *pool, uint32_t id)
{
	struct gl_ring *ring = &pool->r->rings[id];
	enum recorder_pool which = ring->flags & GT_THREAD_NESTED ?
					   RECORDER_NESTED : RECORDER_PRIMARY;
	unsigned class = pool_class_of(ring);

	/* what a busy thread needed is more than its successor needs */
	if (which == RECORDER_PRIMARY && class > pool->first_class) {
		uint64_t at = pool_block(pool, pool->first_class);

		if (at) {
			pool_give_back(pool, ring->offset, class);
			pool_set_data(pool, ring, at, pool->first_class);
		}
	}
	pool_reset(ring);
	ring->generation++;
	atomic_store_explicit(&pool->r->shared->ring_exhausted[which], 0,
			      memory_order_relaxed);
	pool_push(pool->r->shared, which, id + 1);
}

bool pool_grow(struct pool *pool, uint32_t id)
{
	struct gl_ring *ring = &pool->r->rings[id];
	unsigned class = pool_class_of(ring), larger;
	uint64_t at;

	if (class >= POOL_CLASS_MAX || pool_eighths(pool) >= POOL_GROW_EIGHTHS)
		return false;
	larger = base_min(class + POOL_GROW_CLASSES, POOL_CLASS_MAX);
	at = pool_block(pool, larger);
	if (!at)
		return false;
	/* unused in between: a death just here loses nothing, since the ring
	 * was drained */
	__atomic_store_n(&ring->state, GL_RING_UNUSED, __ATOMIC_RELEASE);
	pool_give_back(pool, ring->offset, class);
	pool_set_data(pool, ring, at, larger);
	atomic_store_explicit(&ring->tail, 0, memory_order_relaxed);
	atomic_store_explicit(&ring->head, 0, memory_order_relaxed);
	ring_place(ring, 0, (ring->mask + 1) / 2);
	ring->generation++;
	__atomic_store_n(&ring->state, GL_RING_ACTIVE, __ATOMIC_RELEASE);
	log_number(OPTION_LOG_DEBUG, "a ring grows to", ring->mask + 1);
	return true;
}
