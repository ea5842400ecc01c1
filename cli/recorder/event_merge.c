/*
 * event_merge.c: merges rings with a heap, by the stamp of the next record of
 * each ring, as a reader of the trace merges their chunks.
 *
 * A thread in a hook may hold a stamp that is not visible yet. So events are
 * only taken up to the mark (ring_drain.c), which such a thread holds back. If
 * it does so for long, rings fill up. Then all scanned records of all rings are
 * taken in order: from one ring alone, frees would come before allocations that
 * wait in other rings. Only events not yet pushed come out of order, at most
 * one of each thread. No other thread can have had their blocks meanwhile,
 * except for a realloc; there the block table lets an event wait for its
 * counterpart.
 *
 * I1: own->taken is between tail and head of the ring.
 */
#include "cli/recorder/event_merge.h"

#include <errno.h>

#include "cli/recorder/control.h"
#include "cli/recorder/live_blocks/cull.h"
#include "cli/recorder/live_blocks/rotation.h"
#include "cli/trace/format/ring_record.h"
#include "unwind/base/assertion.h"

#define EVENT_MERGE_AHEAD 16	/* records to prefetch */
#define EVENT_MERGE_SHARE 2	/* a half full ring counts as pressed */

int event_merge_init(struct event_merge *merge, struct block_table *table)
{
	merge->table = table;
	merge->rings.max = GL_RINGS_MAX * sizeof(struct event_merge_ring);
	merge->heap.max = GL_RINGS_MAX * sizeof(uint32_t);
	return vector_reach(&merge->heap, sizeof(uint32_t)) ? 0 : -ENOMEM;
}

/* ---- the heap ---- */

static struct event_merge_ring *
event_merge_ring(const struct event_merge *merge, uint32_t id)
{
	DEBUG_ASSERT((id + UINT64_C(1)) * sizeof(struct event_merge_ring) <=
		     merge->rings.ready);
	return (struct event_merge_ring *)merge->rings.at + id;
}

/* Events with equal stamps are ordered by ring id. */
static bool event_merge_before(const struct event_merge *merge, uint32_t a,
			       uint32_t b)
{
	uint64_t first = event_merge_ring(merge, a)->tick;
	uint64_t second = event_merge_ring(merge, b)->tick;

	return first < second || (first == second && a < b);
}

static void event_merge_sift(struct event_merge *merge, uint32_t i)
{
	uint32_t *heap = (uint32_t *)merge->heap.at, moving = heap[i];

	DEBUG_ASSERT(i < merge->heaped);
	for (;;) {
		uint32_t child = 2 * i + 1;

		if (child >= merge->heaped)
			break;
		if (child + 1 < merge->heaped &&
		    event_merge_before(merge, heap[child + 1], heap[child]))
			child++;
		if (!event_merge_before(merge, heap[child], moving))
			break;
		heap[i] = heap[child];
		i = child;
	}
	heap[i] = moving;
}

static void event_merge_push(struct event_merge *merge, uint32_t id)
{
	uint32_t *heap = (uint32_t *)merge->heap.at;
	uint32_t i = merge->heaped++;

	DEBUG_ASSERT(id < GL_RINGS_MAX && i < GL_RINGS_MAX);
	while (i && event_merge_before(merge, id, heap[(i - 1) / 2])) {
		heap[i] = heap[(i - 1) / 2];
		i = (i - 1) / 2;
	}
	heap[i] = id;
}

#ifdef GNOMON_DEBUG_ASSERTS
bool event_merge_heap_is_valid(const struct event_merge *merge)
{
	const uint32_t *heap = (const uint32_t *)merge->heap.at;
	uint32_t i;

	if (merge->heaped > GL_RINGS_MAX)
		return false;
	for (i = 0; i < merge->heaped; i++)
		if (heap[i] >= GL_RINGS_MAX ||
		    (i && event_merge_before(merge, heap[i],
					     heap[(i - 1) / 2])))
			return false;
	return true;
}
#endif

/* The second ring in order, or the first if it is alone. */
static uint32_t event_merge_second(const struct event_merge *merge)
{
	const uint32_t *heap = (const uint32_t *)merge->heap.at;

	DEBUG_ASSERT(merge->heaped > 0);
	if (merge->heaped < 2)
		return heap[0];
	if (merge->heaped > 2 && event_merge_before(merge, heap[2],
						    heap[1]))
		return heap[2];
	return heap[1];
}

/* ---- records ---- */

static const order_word *event_merge_record(const struct ring_drain *drain,
					    uint32_t id, uint64_t at)
{
	return (const order_word *)(recording_ring_data(drain->r, id) +
				    (at & drain->r->given[id].mask));
}

/* Copies the words of a record: each is read once, as it may change. */
static void event_merge_copy(const struct ring_drain *drain, uint32_t id,
			     uint64_t at, uint64_t word[GL_RECORD_MAX / 8])
{
	const order_word *from = event_merge_record(drain, id, at);
	unsigned i, n;

	for (i = 0; i < 4; i++)
		word[i] = order_word_get(&from[i]);
	n = gl_kind(word[0]) == GT_EXTRA ? GL_RECORD_MAX / 8 : 4;
	for (; i < n; i++)
		word[i] = order_word_get(&from[i]);
}

/* Reads the stamp of the record at `at`, if there is one. */
static bool event_merge_peek(struct ring_drain *drain, uint32_t id)
{
	struct event_merge_ring *own = event_merge_ring(drain->merge, id);
	uint64_t word = 0;

	for (; own->at < own->to; own->at += GL_RECORD_MAX) {
		word = order_word_get(event_merge_record(drain, id, own->at));
		if (word || !recording_is_nested(drain->r, id))
			break;	/* else it was never completed */
	}
	if (own->at >= own->to)
		return false;
	/* as in encode.c: a decreasing stamp counts as no step */
	own->tick = base_max(gl_counter(word) >> drain->tick_shift,
			     drain->rings[id].last_tick);
	return true;
}

static uint64_t event_merge_length(const struct ring_drain *drain, uint32_t id,
				   uint64_t word0, uint64_t word2)
{
	return recording_is_nested(drain->r, id) ? GL_RECORD_MAX :
		8 * gl_record_words(word0, word2);
}

static uint64_t event_merge_length_now(const struct ring_drain *drain,
				       uint32_t id, const order_word *word)
{
	return event_merge_length(drain, id, order_word_glance(&word[0]),
				  order_word_glance(&word[2]));
}

/* Moves past a record. A record beyond the end is damage. */
static void event_merge_advance(struct ring_drain *drain, uint32_t id,
				const uint64_t *word)
{
	struct event_merge_ring *own = event_merge_ring(drain->merge, id);

	own->at += event_merge_length(drain, id, word[0], word[2]);
	if (likely(own->at <= own->to) && likely(gl_kind(word[0]) < GT_EVENT_COUNT))
		return;
	recording_damage(drain->r, "an event");
	own->at = own->to;
}

/* Prefetches memory of the block table for coming records, in two steps: the
 * second follows a pointer that the first has fetched. */
static void event_merge_fetch(struct ring_drain *drain, uint32_t id)
{
	const struct blocks *blocks = &drain->merge->table->edges.blocks;
	struct event_merge_ring *own = event_merge_ring(drain->merge, id);
	const order_word *word;
	uint64_t block;

	for (; own->steps < EVENT_MERGE_AHEAD && own->ahead[0] < own->to;
	     own->steps++) {
		word = event_merge_record(drain, id, own->ahead[0]);
		block = gl_block(order_word_glance(&word[1]));
		blocks_prefetch(blocks, block);
		own->ahead[0] += event_merge_length_now(drain, id, word);
		if (own->steps < EVENT_MERGE_AHEAD / 2)
			continue;
		word = event_merge_record(drain, id, own->ahead[1]);
		block = gl_block(order_word_glance(&word[1]));
		blocks_prefetch_block(blocks, blocks_glance(blocks, block));
		own->ahead[1] += event_merge_length_now(drain, id, word);
	}
	own->steps--;
}

/* Takes the record at `at`. */
static void event_merge_one(struct ring_drain *drain, uint32_t id)
{
	struct event_merge *merge = drain->merge;
	struct event_merge_ring *own = event_merge_ring(merge, id);
	uint64_t word[GL_RECORD_MAX / 8];
	unsigned kind;
	struct block_table_source from = { .ring = id, .owner = own->owner };
	struct trace_event event;

	event_merge_copy(drain, id, own->at, word);
	kind = gl_kind(word[0]);
	event = (struct trace_event){
		.kind = kind, .stamp = own->tick, .address = gl_block(word[1]),
	};
	if (gl_has_context(word[0]))
		event.context = (uint32_t)word[2];
	if (gt_event_kind(kind).has & GT_IS_BLOCK)
		event.size = gl_size(word[2], word[3]);
	if (merge->cull && gt_event_kind(kind).has & GT_IS_BLOCK)
		event.layout = gl_layout(word[1] >> GL_HEADER_SHIFT,
					 event.size);
	event_merge_fetch(drain, id);
	event_merge_advance(drain, id, word);
	if (unlikely(drain->r->damage))
		return;
	drain->rings[id].last_tick = own->tick;
	if (merge->cull)
		from.slot = cull_put(merge->cull, id, own->at, own->tick,
				     word);
	if (likely(kind != GT_EXTRA) &&
	    (!merge->control ||
	     likely(control_counts(merge->control, event.stamp))))
		block_table_event(merge->table, &from, &event);
}

/* Takes records of the first ring that come before the second ring's next. */
static void event_merge_run(struct ring_drain *drain, uint64_t mark)
{
	struct event_merge *merge = drain->merge;
	uint32_t *heap = (uint32_t *)merge->heap.at;
	uint32_t id = heap[0], second = event_merge_second(merge);
	struct event_merge_ring *own = event_merge_ring(merge, id);

	DEBUG_ASSERT(own->tick < mark && own->at < own->to);
	DEBUG_ASSERT(second == id || !event_merge_before(merge, second, id));
	do {
		event_merge_one(drain, id);
		merge->left--;
		if (!event_merge_peek(drain, id) || own->tick >= mark) {
			heap[0] = heap[--merge->heaped];
			break;
		}
	} while (merge->left &&
		 (second == id || event_merge_before(merge, id, second)));
	assert(own->at >= drain->rings[id].taken &&
	       own->at <= own->to); /* I1 */
	drain->rings[id].taken = own->at;
	if (merge->heaped)
		event_merge_sift(merge, 0);
}

/* ---- rings ---- */

/* Adds a scanned ring to the merge, if it has records before the mark. */
static void event_merge_enter(struct ring_drain *drain, uint32_t id,
			      uint64_t mark, enum drain_depth depth)
{
	struct event_merge *merge = drain->merge;
	struct event_merge_ring *own;
	struct drain_source *ring = &drain->rings[id];

	DEBUG_ASSERT(ring->taken <= ring->seen);	/* I1 */
	if (ring->taken == ring->seen ||
	    !vector_reach(&merge->rings,
			   (id + UINT64_C(1)) * sizeof(*own)) ||
	    !vector_reach(&merge->heap, (merge->heaped + UINT64_C(1)) *
						    sizeof(uint32_t)))
		return;
	own = event_merge_ring(merge, id);
	own->at = ring->taken;
	own->to = drain_end(drain, id, ring->taken, ring->seen, depth);
	own->owner = drain_owner(drain, id);
	own->ahead[0] = own->ahead[1] = own->at;
	own->steps = 0;
	DEBUG_ASSERT(own->at <= own->to || recording_is_nested(drain->r, id));
	if (event_merge_peek(drain, id) && own->tick < mark)
		event_merge_push(merge, id);
	else
		ring->taken = own->at;
}

static bool event_merge_presses(const struct ring_drain *drain, uint32_t id)
{
	const struct gl_ring *ring = &drain->r->rings[id];
	const struct drain_source *own = &drain->rings[id];
	const struct recording_ring *given = &drain->r->given[id];

	if (own->taken == own->seen)
		return false;
	return atomic_load_explicit(&ring->waiting, memory_order_relaxed) ||
	       own->seen - given->tail > (given->mask + 1) / EVENT_MERGE_SHARE;
}

static void event_merge_events(struct ring_drain *drain, uint64_t mark)
{
	DEBUG_ASSERT(event_merge_heap_is_valid(drain->merge));
	while (drain->merge->heaped && drain->merge->left)
		event_merge_run(drain, mark);
	DEBUG_ASSERT(event_merge_heap_is_valid(drain->merge));
	drain->merge->heaped = 0;
}

/* Makes the taken records the ones to be written. */
static void event_merge_leave(struct ring_drain *drain)
{
	uint32_t count = drain_count(drain), id;

	for (id = 0; id < count; id++)
		if (drain_active(&drain->r->rings[id]) &&
		    drain->rings[id].known)
			drain->rings[id].head = drain->rings[id].taken;
}

/* Takes the records of all rings before a tick, in order. */
static void event_merge_take_before(struct ring_drain *drain, uint64_t tick,
				    enum drain_depth depth)
{
	uint32_t count = drain_count(drain), id;

	for (id = 0; id < count; id++)
		if (drain_active(&drain->r->rings[id]) &&
		    drain->rings[id].known)
			event_merge_enter(drain, id, tick, depth);
	event_merge_events(drain, tick);
}

static bool event_merge_pressed(const struct ring_drain *drain)
{
	uint32_t count = drain_count(drain), id;

	for (id = 0; id < count; id++)
		if (drain_active(&drain->r->rings[id]) &&
		    drain->rings[id].known && event_merge_presses(drain, id))
			return true;
	return false;
}

bool event_merge_take(struct ring_drain *drain, uint64_t mark,
		      enum drain_depth depth)
{
	struct event_merge *merge = drain->merge;
	uint64_t at_once = base_min(merge->at_once, drain->scanned);

	merge->left = merge->rotation ? rotation_step(merge->rotation) :
					   UINT32_MAX;
	if (depth == DRAIN_LAST)
		mark = UINT64_MAX;
	mark = merge->marked = base_max(mark, merge->marked);
	merge->table->edges.settled = mark;
	event_merge_take_before(drain, mark, depth);
	if (merge->left) {
		block_table_catch_up(merge->table, mark);
		if (depth == DRAIN_ENOUGH && event_merge_pressed(drain))
			at_once = drain->scanned;
		if (at_once) {
			merge->forced++;
			event_merge_take_before(drain, at_once, depth);
		}
	}
	DEBUG_ASSERT(merge->heaped == 0);
	event_merge_leave(drain);
	return !merge->left;
}

void event_merge_take_rest(struct ring_drain *drain, uint32_t id)
{
	drain->merge->left = UINT32_MAX;
	event_merge_enter(drain, id, UINT64_MAX, DRAIN_LAST);
	event_merge_events(drain, UINT64_MAX);
	event_merge_leave(drain);
}

void event_merge_thread(struct ring_drain *drain, uint32_t id)
{
	block_table_thread_new(drain->merge->table, id,
			       drain->rings[id].serial);
}

void event_merge_ring_ends(struct ring_drain *drain, uint32_t id)
{
	if (drain->merge->cull)
		cull_flush_ring(drain->merge->cull, id);
}

uint64_t event_merge_mark(struct ring_drain *drain, uint64_t mark,
			  enum drain_depth depth)
{
	struct event_merge *merge = drain->merge;

	if (depth == DRAIN_LAST)
		block_table_finish(merge->table);
	if (!merge->cull)
		return mark;
	if (depth == DRAIN_LAST)
		cull_flush(merge->cull);
	return base_min(mark, cull_oldest(merge->cull));
}
