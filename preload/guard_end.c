/*
 * guard_end.c: see guard_end.h.
 *
 * Damages are events of a thread, as they are elsewhere. Here it is one whose
 * ring is still there: its owner is gone. Should there be none, a ring is
 * taken as a thread would.
 */
#include "preload/guard_end.h"

#include "preload/guard.h"
#include "preload/guard_sweep.h"
#include "preload/ring.h"
#include "unwind/memory.h"

struct guard_end {
	struct feed *feed;
	struct gl_ring *ring;
};

static struct gl_ring *guard_end_ring(struct feed *feed)
{
	struct recorder *r = feed->r;
	uint32_t count = feed_count(feed), id;
	struct gl_ring *ring;

	for (id = 0; id < count; id++)
		if (feed_active(&r->rings[id]) &&
		    !(r->rings[id].flags & GT_THREAD_NESTED))
			return &r->rings[id];
	pool_refill(feed->pool);
	id = pool_take(r, RECORDER_PRIMARY);
	if (!id)
		return NULL;
	ring = &r->rings[id - 1];
	ring->tid = r->pid;
	ring->flags = GT_THREAD_MAIN;
	ring->start_stamp = arch_cycles();
	__atomic_store_n(&ring->state, GL_RING_ACTIVE, __ATOMIC_RELEASE);
	return ring;
}

static void guard_end_push(struct guard_end *end,
			   const struct ring_event *event)
{
	struct gl_ring *ring = end->ring;
	uint64_t head = atomic_load_explicit(&ring->head,
					     memory_order_relaxed);
	uint64_t tail = atomic_load_explicit(&ring->tail,
					     memory_order_relaxed);

	if (head - tail + RING_RECORD_MAX > ring->mask + 1) {
		feed_sync(end->feed, FEED_ALL);
		tail = atomic_load_explicit(&ring->tail,
					    memory_order_relaxed);
		if (head != tail)
			return;	/* it cannot be written */
	}
	ring_place(ring, head, tail + ring->mask + 1);
	ring_push_extra(end->feed->r, ring, event);
}

static void guard_end_tell(void *owner, uintptr_t block,
			   const struct guard_found *found,
			   struct guard_harm harm)
{
	struct guard_end *end = owner;
	bool known = guard_forks(found->place) == guard.mark.forks;
	const struct ring_event event = {
		.kind = GT_EXTRA,
		.what = GT_EXTRA_DAMAGE,
		.stamp = ring_cycles(),
		.address = block,
		.size = found->size,
		.args = { (uint64_t)harm.offset, known ? found->context : 0,
			  harm.bytes, GT_DAMAGE_END },
	};

	if (!end->ring)
		end->ring = guard_end_ring(end->feed);
	if (!end->ring)
		return;
	guard_end_push(end, &event);
	atomic_fetch_add_explicit(&end->feed->r->shared->guard_damages, 1,
				  memory_order_relaxed);
}

void guard_end(struct feed *feed)
{
	struct guard_shape shape = guard.shape;
	struct guard_end end = { .feed = feed };
	struct guard_sweep sweep = {
		.shape = &shape,
		.tell = guard_end_tell,
		.owner = &end,
	};

	if (!guard.on)
		return;
	/* nobody would answer the writer */
	shape.readable = unwind_probe;
	guard_sweep_all(&sweep);
	feed->guard_blocks = sweep.blocks;
	feed->guard_skipped = sweep.skipped;
}
