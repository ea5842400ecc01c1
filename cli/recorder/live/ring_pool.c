/*
 * ring_pool.c: memory of rings. ring_pool.h shows who makes which transition.
 * The recorder only; the threads' side is in ring_take.c.
 *
 * The data region of the live mapping:
 *
 *	| gl_ring 0 | gl_ring 1 | … | data of a ring | data | … | free … |
 *	 <- GL_RINGS_MAX headers ->                              ^ used
 *
 * Each id keeps its block of data for its next generation. Blocks replaced by
 * larger ones go to a free list by size. The links of the lists are in the
 * recorder's own memory.
 *
 * A block lies within one of the pieces that the target maps
 * (preload/format.h). Its owner finds its address there (preload/ring/ring.c).
 *
 * The free lists of rings are stacks whose head carries a tag that counts
 * changes (Treiber, with the ABA problem solved by the tag).
 *
 * I1: an id is in a free list, or its ring's state is ACTIVE, or a thread is
 *     just moving it from one to the other.
 */
#include "cli/recorder/live/ring_pool.h"

#include <assert.h>

#include "cli/recorder/base/futex.h"
#include "cli/recorder/base/zeroed.h"
#include "cli/recorder/output/log_file.h"
#include "preload/ring/ring_shared.h"
#include "unwind/base/assertion.h"

#define RING_POOL_MAIN_CLASS 20	/* 1 MiB: the main thread's first ring */
#define RING_POOL_GROW_CLASSES 2	/* fourfold */
#define RING_POOL_NESTED_CLASS 13	/* 8 KiB */
#define RING_POOL_GROW_EIGHTHS 4	/* the other half is for new threads */
#define RING_POOL_BATCH 8	/* rings added when a thread had to wait */
#define RING_POOL_AHEAD_MAX 128	/* rings kept ready if threads start fast */
#define RING_POOL_AHEAD_SINK 16	/* reduced by this fraction at each refill */

static const uint32_t ring_pool_low[RECORDER_POOLS] = { 4, 1 };

static uint64_t ring_pool_end(const struct ring_pool *pool)
{
	return pool->live->size - pool->live->shape.data_offset;
}

/* Offset (in the live file) of new memory, within one piece that the target
 * maps; 0: none left. */
static uint64_t ring_pool_more(struct ring_pool *pool, uint64_t bytes)
{
	unsigned last = gl_piece_of(GL_DATA_FIRST, pool->used + bytes - 1);
	uint64_t used = base_max(pool->used,
				 gl_piece_start(GL_DATA_FIRST, last));
	uint64_t at = pool->live->shape.data_offset + used;

	if (used + bytes > ring_pool_end(pool) ||
	    live_reserve(pool->live, at, at + bytes))
		return 0;
	DEBUG_ASSERT(gl_piece_of(GL_DATA_FIRST, used) ==
		     gl_piece_of(GL_DATA_FIRST, used + bytes - 1));
	pool->used = used + bytes;
	DEBUG_ASSERT(ring_pool_is_valid(pool));
	return at;
}

/* The link of a block. Each block is larger than a page, so no two begin in the
 * same page. */
static uint64_t *ring_pool_link_of(const struct ring_pool *pool, uint64_t at)
{
	DEBUG_ASSERT(at >= pool->live->shape.data_offset &&
		     at < pool->live->shape.data_offset + pool->used);
	return &pool->links_of[(at - pool->live->shape.data_offset) / GL_PAGE];
}

/* Offset of a free or new block of this class; 0: none. */
static uint64_t ring_pool_block(struct ring_pool *pool, unsigned class)
{
	uint64_t *list = &pool->free_offset[class - RING_POOL_CLASS_MIN];
	uint64_t at = *list;

	assert(class >= RING_POOL_CLASS_MIN && class <= RING_POOL_CLASS_MAX);
	if (at) {
		*list = *ring_pool_link_of(pool, at);
		return at;
	}
	return ring_pool_more(pool, (UINT64_C(1) << class) + GL_RING_SLACK);
}

static void ring_pool_give_back(struct ring_pool *pool, uint64_t at,
				unsigned class)
{
	uint64_t *list = &pool->free_offset[class - RING_POOL_CLASS_MIN];

	if (!pool->links_of)
		return;	/* the block is not reused */
	DEBUG_ASSERT(at + (UINT64_C(1) << class) + GL_RING_SLACK <=
		     pool->live->shape.data_offset + pool->used);
	*ring_pool_link_of(pool, at) = *list;
	*list = at;
}

static unsigned ring_pool_class_of(const struct recording_ring *given)
{
	DEBUG_ASSERT(!(given->mask & (given->mask + 1)));
	return 63 - __builtin_clzll(given->mask + 1);
}

/* Share of the data region in use, in eighths. */
static unsigned ring_pool_eighths(const struct ring_pool *pool)
{
	uint64_t headers = GL_RINGS_MAX * sizeof(struct gl_ring);

	return (pool->used - headers) * 8 / (ring_pool_end(pool) - headers);
}

/* The class of a new thread's ring; smaller as memory is used up. With the
 * default budget there is room for some 7000 threads. */
static unsigned ring_pool_class(const struct ring_pool *pool,
				enum recorder_pool which)
{
	static const uint8_t smaller[8] = { 0, 1, 2, 2, 3, 3, 8, 8 };
	unsigned eighths = ring_pool_eighths(pool);
	unsigned class = pool->first_class;

	if (which == RECORDER_NESTED)
		return eighths < 4 ? RING_POOL_NESTED_CLASS
				   : RING_POOL_CLASS_MIN;
	if (!pool->main_given && class < RING_POOL_MAIN_CLASS)
		return RING_POOL_MAIN_CLASS;
	class -= eighths < 8 ? smaller[eighths] : 8;
	return class < RING_POOL_CLASS_MIN || class > RING_POOL_CLASS_MAX ?
		       RING_POOL_CLASS_MIN : class;
}

static void ring_pool_set_data(struct ring_pool *pool, uint32_t id, uint64_t at,
			       unsigned class)
{
	struct recording_ring *given = &pool->r->given[id];
	struct gl_ring *ring = &pool->r->rings[id];

	given->ready = false;
	given->offset = ring->offset = at;
	given->mask = ring->mask = (UINT64_C(1) << class) - 1;
	assert(at >= pool->live->shape.data_offset &&
	       at + given->mask + 1 + GL_RING_SLACK <=
		       pool->live->shape.data_offset + pool->used);
	DEBUG_ASSERT(at % sizeof(uint64_t) == 0);
}

/* Empties a ring: positions start again from 0. */
static void ring_pool_empty(struct ring_pool *pool, uint32_t id)
{
	struct gl_ring *ring = &pool->r->rings[id];

	pool->r->given[id].tail = 0;
	/* the owner has not mapped the data yet: its next push looks it up */
	ring->data = ring->base = 0;
	ring->limit = 0;
	atomic_store_explicit(&ring->tail, 0, memory_order_relaxed);
	atomic_store_explicit(&ring->head, 0, memory_order_relaxed);
}

/* Resets the ring for its next thread. */
static void ring_pool_reset(struct ring_pool *pool, uint32_t id)
{
	struct gl_ring *ring = &pool->r->rings[id];

	atomic_store_explicit(&ring->busy, GL_IDLE, memory_order_relaxed);
	ring_pool_empty(pool, id);
	ring->dropped = 0;
}

/* Reserves the link of ring `id` in the free lists, a page of links at a
 * time. */
static bool ring_pool_link(struct ring_pool *pool, uint32_t id)
{
	uint64_t at = pool->live->shape.shared_offset +
		      offsetof(struct gl_shared, ring_next) +
		      id * sizeof(uint32_t);

	if (id < pool->links)
		return true;
	DEBUG_ASSERT(id == pool->links);
	if (live_reserve(pool->live, at, at + GL_PAGE))
		return false;
	pool->links += GL_PAGE / sizeof(uint32_t);
	DEBUG_ASSERT(id < pool->links);
	return true;
}

/* Allocates a struct gl_thread for ring `id`. */
static bool ring_pool_thread(struct ring_pool *pool, uint32_t id)
{
	uint64_t *piece = &pool->r->threads[id / GL_THREADS];
	uint64_t bytes = GL_THREADS * sizeof(struct gl_thread), at;

	if (*piece)
		return true;
	at = ring_pool_more(pool, bytes);
	if (!at)
		return false;
	pool->r->shared->threads[id / GL_THREADS] = *piece = at;
	return true;
}

/* Reserves the entry of ring `id` in the table of rings. */
static bool ring_pool_place(struct ring_pool *pool, uint32_t id)
{
	uint64_t at = pool->live->shape.rings_offset + id * sizeof(uint64_t);

	if (id < pool->places)
		return true;
	DEBUG_ASSERT(id == pool->places);
	if (live_reserve(pool->live, at, at + GL_PAGE))
		return false;
	pool->places += GL_PAGE / sizeof(uint64_t);
	DEBUG_ASSERT(id < pool->places);
	return true;
}

static bool ring_pool_add(struct ring_pool *pool, enum recorder_pool which)
{
	struct live *live = pool->live;
	order_word *table = live_at(live, live->shape.rings_offset);
	uint32_t id = pool->r->ring_count;
	uint64_t header = live->shape.data_offset +
			  id * sizeof(struct gl_ring);
	unsigned class = ring_pool_class(pool, which);
	struct gl_ring *ring = (struct gl_ring *)live_at(live, header);
	uint64_t at;

	if (id == GL_RINGS_MAX || !ring_pool_link(pool, id) ||
	    !ring_pool_place(pool, id) || !ring_pool_thread(pool, id))
		return false;
	if (live_reserve(live, header, header + sizeof(*ring)))
		return false;
	for (at = 0; class >= RING_POOL_CLASS_MIN && !at; class--)
		at = ring_pool_block(pool, class);
	if (!at)
		return false;
	ring_pool_set_data(pool, id, at, class + 1);
	ring_pool_reset(pool, id);
	ring->id = id;
	ring->flags = which == RECORDER_NESTED ? GT_THREAD_NESTED : 0;
	pool->r->given[id].flags = ring->flags;
	order_word_put(&table[id], header);
	pool->r->ring_count++;
	assert(pool->r->ring_count <= GL_RINGS_MAX);
	if (which == RECORDER_PRIMARY)
		pool->main_given = true;
	/* pairs with the acquire of readers of the table */
	atomic_store_explicit(&live->header->ring_count, id + 1,
			      memory_order_release);
	ring_push_free(pool->r->shared, which, id + 1);
	return true;
}

/* How many rings to keep ready: twice as many as were taken since the last
 * time. */
static uint32_t ring_pool_ahead(struct ring_pool *pool,
				enum recorder_pool which)
{
	struct gl_shared *shared = pool->r->shared;
	uint32_t taken = atomic_exchange_explicit(&shared->ring_taken[which],
						  0, memory_order_relaxed);
	uint32_t ahead = pool->ahead[which];

	ahead -= (ahead + RING_POOL_AHEAD_SINK - 1) / RING_POOL_AHEAD_SINK;
	ahead = base_max(ahead, base_min(2 * taken, RING_POOL_AHEAD_MAX));
	ahead = base_max(ahead, ring_pool_low[which]);
	assert(ahead >= ring_pool_low[which] && ahead <= RING_POOL_AHEAD_MAX);
	pool->ahead[which] = ahead;
	atomic_store_explicit(&shared->ring_alarm[which], ahead / 2,
			      memory_order_relaxed);
	return ahead;
}

/* Wakes as many threads as there are rings: with thousands of waiters, more
 * would only contend. */
static void ring_pool_wake(struct gl_shared *shared, enum recorder_pool which,
			   uint32_t rings)
{
	if (!rings) {
		/* no memory, so there is nothing to wait for */
		futex_wake(&shared->ring_refills[which]);
		return;
	}
	if (futex_wake_some(&shared->ring_refills[which], rings) < rings)
		return;
	/* more may be waiting */
	atomic_store_explicit(&shared->ring_wanted[which], 1,
			      memory_order_release);
	/* the recorder must not sleep before the next refill */
	atomic_fetch_add_explicit(&shared->wake, 1, memory_order_seq_cst);
}

static void ring_pool_refill_one(struct ring_pool *pool,
				 enum recorder_pool which)
{
	struct gl_shared *shared = pool->r->shared;
	uint32_t want = ring_pool_ahead(pool, which);
	bool wanted = atomic_exchange_explicit(&shared->ring_wanted[which], 0,
					       memory_order_acquire);
	uint32_t there = atomic_load_explicit(&shared->ring_count[which],
					      memory_order_relaxed);

	/* after many threads, more will start: each refill comes after a full
	 * pass over all rings */
	if (wanted)
		want = RING_POOL_BATCH + pool->r->ring_count / 8;
	for (; there < want; there++) {
		if (ring_pool_add(pool, which))
			continue;
		atomic_store_explicit(&shared->ring_exhausted[which],
				      there == 0, memory_order_relaxed);
		break;
	}
	if (!wanted)
		return;
	atomic_fetch_add_explicit(&shared->ring_refills[which], 1,
				  memory_order_release);
	ring_pool_wake(shared, which, there);
}

void ring_pool_refill(struct ring_pool *pool)
{
	ring_pool_refill_one(pool, RECORDER_PRIMARY);
	ring_pool_refill_one(pool, RECORDER_NESTED);
}

/*
 * Takes over the first thread's ring, which live_make_ring has created at the
 * only possible offset. Its bytes give its class; an invalid size is damage.
 */
static bool ring_pool_take_over(struct ring_pool *pool)
{
	struct recording *r = pool->r;
	uint64_t threads = pool->live->shape.data_offset + pool->used;
	uint64_t before = pool->used +
			  GL_THREADS * sizeof(struct gl_thread) + GL_RING_SLACK;
	uint64_t size = r->ring_bytes - before;

	if (r->rings_made != 1)
		return false;
	if (r->ring_bytes <= before || r->ring_bytes > ring_pool_end(pool) ||
	    size & (size - 1) || size < UINT64_C(1) << RING_POOL_CLASS_MIN ||
	    size > UINT64_C(1) << RING_POOL_CLASS_MAX) {
		recording_damage(r, "the first ring");
		return false;
	}
	r->threads[0] = threads;
	r->given[0] = (struct recording_ring){
		.offset = threads + GL_THREADS * sizeof(struct gl_thread),
		.mask = size - 1,
	};
	r->ring_count = 1;
	pool->used = r->ring_bytes;
	DEBUG_ASSERT(ring_pool_is_valid(pool));
	return true;
}

void ring_pool_init(struct ring_pool *pool, struct recording *r,
		    struct live *live, uint64_t ring_bytes)
{
	pool->r = r;
	pool->live = live;
	pool->used = GL_RINGS_MAX * sizeof(struct gl_ring);
	/* the target has reserved the first page */
	pool->places = GL_PAGE / sizeof(uint64_t);
	pool->first_class = RING_POOL_CLASS_MIN;
	while (pool->first_class < RING_POOL_CLASS_MAX &&
	       (UINT64_C(1) << pool->first_class) < ring_bytes)
		pool->first_class++;
	pool->links_of = zeroed_alloc((ring_pool_end(pool) / GL_PAGE + 1) *
				      sizeof(*pool->links_of));
	if (ring_pool_take_over(pool)) {
		pool->links = GL_PAGE / sizeof(uint32_t);
		pool->main_given = true;
		return;
	}
	/* the list is a stack: the last ring added is for the main thread */
	pool->main_given = true;
	ring_pool_refill(pool);
	pool->main_given = false;
	ring_pool_add(pool, RECORDER_PRIMARY);
}

void ring_pool_close(struct ring_pool *pool, uint32_t id)
{
	struct recording_ring *given = &pool->r->given[id];
	enum recorder_pool which = given->flags & GT_THREAD_NESTED ?
					   RECORDER_NESTED : RECORDER_PRIMARY;
	unsigned class = ring_pool_class_of(given);

	DEBUG_ASSERT(class >= RING_POOL_CLASS_MIN &&
		     class <= RING_POOL_CLASS_MAX);
	/* a busy thread's ring is larger than its successor needs */
	if (which == RECORDER_PRIMARY && class > pool->first_class) {
		uint64_t at = ring_pool_block(pool, pool->first_class);

		if (at) {
			ring_pool_give_back(pool, given->offset, class);
			ring_pool_set_data(pool, id, at, pool->first_class);
		}
	}
	ring_pool_reset(pool, id);
	pool->r->rings[id].generation = ++given->generation;
	atomic_store_explicit(&pool->r->shared->ring_exhausted[which], 0,
			      memory_order_relaxed);
	ring_push_free(pool->r->shared, which, id + 1);
	DEBUG_ASSERT(ring_pool_is_valid(pool));
}

void ring_pool_ready(struct ring_pool *pool, uint32_t id, uint64_t head)
{
	struct recording_ring *given = &pool->r->given[id];
	uint64_t end = given->mask + 1 + GL_RING_SLACK;

	if (likely(given->ready) || head < GL_PAGE)
		return;
	given->ready = true;
	live_ready(pool->live, given->offset + base_min(head, end),
		   given->offset + end);
}

bool ring_pool_grow(struct ring_pool *pool, uint32_t id)
{
	struct recording_ring *given = &pool->r->given[id];
	struct gl_ring *ring = &pool->r->rings[id];
	unsigned class = ring_pool_class_of(given), larger;
	uint64_t at;

	if (class >= RING_POOL_CLASS_MAX ||
	    ring_pool_eighths(pool) >= RING_POOL_GROW_EIGHTHS)
		return false;
	larger = base_min(class + RING_POOL_GROW_CLASSES, RING_POOL_CLASS_MAX);
	assert(larger > class);
	at = ring_pool_block(pool, larger);
	if (!at)
		return false;
	live_ready(pool->live, at, at + (UINT64_C(1) << larger));
	/* UNUSED for a moment: if the process dies here nothing is lost, since
	 * the ring was drained and its owner waits */
	order_write_release(ring, state, GL_RING_UNUSED);
	ring_pool_give_back(pool, given->offset, class);
	/* in this order: the owner looks its data up when both are set */
	ring_pool_empty(pool, id);
	ring_pool_set_data(pool, id, at, larger);
	given->ready = true;
	ring->generation = ++given->generation;
	order_write_release(ring, state, GL_RING_ACTIVE);
	log_file_number(OPTION_LOG_DEBUG, "ring enlarged to", given->mask + 1);
	return true;
}

#ifdef GNOMON_DEBUG_ASSERTS
#define VALID_BLOCKS 1024	/* checked at most, per list */

static bool ring_pool_list_ends(const struct ring_pool *pool, unsigned class)
{
	uint64_t first = pool->live->shape.data_offset, at;
	unsigned n = VALID_BLOCKS;

	for (at = pool->free_offset[class - RING_POOL_CLASS_MIN]; at && n;
	     n--) {
		if (at < first || at + (UINT64_C(1) << class) > first +
							  pool->used)
			return false;
		at = *ring_pool_link_of(pool, at);
	}
	return true;
}

bool ring_pool_is_valid(const struct ring_pool *pool)
{
	unsigned class;

	for (class = RING_POOL_CLASS_MIN; class <= RING_POOL_CLASS_MAX; class++)
		if (!ring_pool_list_ends(pool, class))
			return false;
	return pool->used <= ring_pool_end(pool) &&
	       pool->r->ring_count <= GL_RINGS_MAX;
}
#endif
