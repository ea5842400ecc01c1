/*
 * sequence.c: merges rings with a heap, by the stamp of the next record of each
 * ring, as a reader of the trace merges their chunks.
 *
 * A thread in a hook may hold a stamp that is not visible yet. So events are
 * only taken up to the mark (feed.c), which such a thread holds back. If it
 * does so for long, rings fill up. Then all scanned records of all rings are
 * taken in order: from one ring alone, frees would come before allocations that
 * wait in other rings. Only events not yet pushed come out of order, at most
 * one of each thread. No other thread can have had their blocks meanwhile,
 * except for a realloc; there the block table lets an event wait for its
 * counterpart.
 *
 * I1: own->taken is between tail and head of the ring.
 */
#include "cli/recorder/sequence.h"

#include <errno.h>

#include "cli/recorder/control.h"
#include "cli/recorder/books/cull.h"
#include "cli/recorder/books/parts.h"
#include "cli/trace/format/ring_record.h"
#include "unwind/claim.h"

#define SEQUENCE_AHEAD 16	/* records to prefetch */
#define SEQUENCE_SHARE 2	/* a half full ring counts as pressed */

int sequence_init(struct sequence *sequence, struct ledger *ledger)
{
	sequence->ledger = ledger;
	sequence->rings.most = GL_RINGS_MAX * sizeof(struct sequence_ring);
	sequence->heap.most = GL_RINGS_MAX * sizeof(uint32_t);
	return grown_reach(&sequence->heap, sizeof(uint32_t)) ? 0 : -ENOMEM;
}

/* ---- the heap ---- */

static struct sequence_ring *sequence_ring(const struct sequence *sequence,
					   uint32_t id)
{
	CLAIM_FULL((id + UINT64_C(1)) * sizeof(struct sequence_ring) <=
		   sequence->rings.ready);
	return (struct sequence_ring *)sequence->rings.at + id;
}

/* Events with equal stamps are ordered by ring id. */
static bool sequence_before(const struct sequence *sequence, uint32_t a,
			    uint32_t b)
{
	uint64_t first = sequence_ring(sequence, a)->tick;
	uint64_t second = sequence_ring(sequence, b)->tick;

	return first < second || (first == second && a < b);
}

static void sequence_sift(struct sequence *sequence, uint32_t i)
{
	uint32_t *heap = (uint32_t *)sequence->heap.at, moving = heap[i];

	CLAIM_FULL(i < sequence->heaped);
	for (;;) {
		uint32_t child = 2 * i + 1;

		if (child >= sequence->heaped)
			break;
		if (child + 1 < sequence->heaped &&
		    sequence_before(sequence, heap[child + 1], heap[child]))
			child++;
		if (!sequence_before(sequence, heap[child], moving))
			break;
		heap[i] = heap[child];
		i = child;
	}
	heap[i] = moving;
}

static void sequence_push(struct sequence *sequence, uint32_t id)
{
	uint32_t *heap = (uint32_t *)sequence->heap.at;
	uint32_t i = sequence->heaped++;

	CLAIM_FULL(id < GL_RINGS_MAX && i < GL_RINGS_MAX);
	while (i && sequence_before(sequence, id, heap[(i - 1) / 2])) {
		heap[i] = heap[(i - 1) / 2];
		i = (i - 1) / 2;
	}
	heap[i] = id;
}

#ifdef GNOMON_CLAIMS
bool sequence_heap_is_valid(const struct sequence *sequence)
{
	const uint32_t *heap = (const uint32_t *)sequence->heap.at;
	uint32_t i;

	if (sequence->heaped > GL_RINGS_MAX)
		return false;
	for (i = 0; i < sequence->heaped; i++)
		if (heap[i] >= GL_RINGS_MAX ||
		    (i && sequence_before(sequence, heap[i],
					  heap[(i - 1) / 2])))
			return false;
	return true;
}
#endif

/* The second ring in order, or the first if it is alone. */
static uint32_t sequence_second(const struct sequence *sequence)
{
	const uint32_t *heap = (const uint32_t *)sequence->heap.at;

	CLAIM_FULL(sequence->heaped > 0);
	if (sequence->heaped < 2)
		return heap[0];
	if (sequence->heaped > 2 && sequence_before(sequence, heap[2],
						    heap[1]))
		return heap[2];
	return heap[1];
}

/* ---- records ---- */

static const order_word *sequence_record(const struct feed *feed, uint32_t id,
					 uint64_t at)
{
	return (const order_word *)(recording_ring_data(feed->r, id) +
				    (at & feed->r->given[id].mask));
}

/* Copies the words of a record: each is read once, as it may change. */
static void sequence_copy(const struct feed *feed, uint32_t id, uint64_t at,
			  uint64_t word[GL_RECORD_MAX / 8])
{
	const order_word *from = sequence_record(feed, id, at);
	unsigned i, n;

	for (i = 0; i < 4; i++)
		word[i] = order_word_get(&from[i]);
	n = gl_kind(word[0]) == GT_EXTRA ? GL_RECORD_MAX / 8 : 4;
	for (; i < n; i++)
		word[i] = order_word_get(&from[i]);
}

/* Reads the stamp of the record at `at`, if there is one. */
static bool sequence_peek(struct feed *feed, uint32_t id)
{
	struct sequence_ring *own = sequence_ring(feed->sequence, id);
	uint64_t word = 0;

	for (; own->at < own->to; own->at += GL_RECORD_MAX) {
		word = order_word_get(sequence_record(feed, id, own->at));
		if (word || !recording_is_nested(feed->r, id))
			break;	/* else it was never completed */
	}
	if (own->at >= own->to)
		return false;
	/* as in encode.c: a decreasing stamp counts as no step */
	own->tick = base_max(gl_counter(word) >> feed->tick_shift,
			     feed->rings[id].last_tick);
	return true;
}

static uint64_t sequence_length(const struct feed *feed, uint32_t id,
				uint64_t word0, uint64_t word2)
{
	return recording_is_nested(feed->r, id) ? GL_RECORD_MAX :
		8 * gl_record_words(word0, word2);
}

static uint64_t sequence_length_now(const struct feed *feed, uint32_t id,
				    const order_word *word)
{
	return sequence_length(feed, id, order_word_glance(&word[0]),
			       order_word_glance(&word[2]));
}

/* Moves past a record. A record beyond the end is damage. */
static void sequence_advance(struct feed *feed, uint32_t id,
			     const uint64_t *word)
{
	struct sequence_ring *own = sequence_ring(feed->sequence, id);

	own->at += sequence_length(feed, id, word[0], word[2]);
	if (likely(own->at <= own->to) && likely(gl_kind(word[0]) < GT_EVENT_COUNT))
		return;
	recording_damage(feed->r, "an event");
	own->at = own->to;
}

/* Prefetches memory of the block table for coming records, in two steps: the
 * second follows a pointer that the first has fetched. */
static void sequence_fetch(struct feed *feed, uint32_t id)
{
	const struct blocks *blocks = &feed->sequence->ledger->edges.blocks;
	struct sequence_ring *own = sequence_ring(feed->sequence, id);
	const order_word *word;
	uint64_t block;

	for (; own->steps < SEQUENCE_AHEAD && own->ahead[0] < own->to;
	     own->steps++) {
		word = sequence_record(feed, id, own->ahead[0]);
		block = gl_block(order_word_glance(&word[1]));
		blocks_prefetch(blocks, block);
		own->ahead[0] += sequence_length_now(feed, id, word);
		if (own->steps < SEQUENCE_AHEAD / 2)
			continue;
		word = sequence_record(feed, id, own->ahead[1]);
		block = gl_block(order_word_glance(&word[1]));
		blocks_prefetch_block(blocks, blocks_glance(blocks, block));
		own->ahead[1] += sequence_length_now(feed, id, word);
	}
	own->steps--;
}

/* Takes the record at `at`. */
static void sequence_one(struct feed *feed, uint32_t id)
{
	struct sequence *sequence = feed->sequence;
	struct sequence_ring *own = sequence_ring(sequence, id);
	uint64_t word[GL_RECORD_MAX / 8];
	unsigned kind;
	struct ledger_source from = { .ring = id, .owner = own->owner };
	struct trace_event event;

	sequence_copy(feed, id, own->at, word);
	kind = gl_kind(word[0]);
	event = (struct trace_event){
		.kind = kind, .stamp = own->tick, .address = gl_block(word[1]),
	};
	if (gl_has_context(word[0]))
		event.context = (uint32_t)word[2];
	if (gt_event_kind(kind).has & GT_IS_BLOCK)
		event.size = gl_size(word[2], word[3]);
	if (sequence->cull && gt_event_kind(kind).has & GT_IS_BLOCK)
		event.layout = gl_layout(word[1] >> GL_HEADER_SHIFT,
					 event.size);
	sequence_fetch(feed, id);
	sequence_advance(feed, id, word);
	if (unlikely(feed->r->damage))
		return;
	feed->rings[id].last_tick = own->tick;
	if (sequence->cull)
		from.slot = cull_put(sequence->cull, id, own->at, own->tick,
				     word);
	if (likely(kind != GT_EXTRA) &&
	    (!sequence->control ||
	     likely(control_counts(sequence->control, event.stamp))))
		ledger_event(sequence->ledger, &from, &event);
}

/* Takes records of the first ring that come before the second ring's next. */
static void sequence_run(struct feed *feed, uint64_t mark)
{
	struct sequence *sequence = feed->sequence;
	uint32_t *heap = (uint32_t *)sequence->heap.at;
	uint32_t id = heap[0], second = sequence_second(sequence);
	struct sequence_ring *own = sequence_ring(sequence, id);

	CLAIM_FULL(own->tick < mark && own->at < own->to);
	CLAIM_FULL(second == id || !sequence_before(sequence, second, id));
	do {
		sequence_one(feed, id);
		sequence->left--;
		if (!sequence_peek(feed, id) || own->tick >= mark) {
			heap[0] = heap[--sequence->heaped];
			break;
		}
	} while (sequence->left &&
		 (second == id || sequence_before(sequence, id, second)));
	assert(own->at >= feed->rings[id].taken && own->at <= own->to);	/* I1 */
	feed->rings[id].taken = own->at;
	if (sequence->heaped)
		sequence_sift(sequence, 0);
}

/* ---- rings ---- */

/* Adds a scanned ring to the merge, if it has records before the mark. */
static void sequence_enter(struct feed *feed, uint32_t id, uint64_t mark,
			   enum feed_depth depth)
{
	struct sequence *sequence = feed->sequence;
	struct sequence_ring *own;
	struct feed_ring *ring = &feed->rings[id];

	CLAIM_FULL(ring->taken <= ring->seen);	/* I1 */
	if (ring->taken == ring->seen ||
	    !grown_reach(&sequence->rings,
			   (id + UINT64_C(1)) * sizeof(*own)) ||
	    !grown_reach(&sequence->heap, (sequence->heaped + UINT64_C(1)) *
						    sizeof(uint32_t)))
		return;
	own = sequence_ring(sequence, id);
	own->at = ring->taken;
	own->to = feed_end(feed, id, ring->taken, ring->seen, depth);
	own->owner = feed_owner(feed, id);
	own->ahead[0] = own->ahead[1] = own->at;
	own->steps = 0;
	CLAIM_FULL(own->at <= own->to || recording_is_nested(feed->r, id));
	if (sequence_peek(feed, id) && own->tick < mark)
		sequence_push(sequence, id);
	else
		ring->taken = own->at;
}

static bool sequence_presses(const struct feed *feed, uint32_t id)
{
	const struct gl_ring *ring = &feed->r->rings[id];
	const struct feed_ring *own = &feed->rings[id];
	const struct recording_ring *given = &feed->r->given[id];

	if (own->taken == own->seen)
		return false;
	return atomic_load_explicit(&ring->waiting, memory_order_relaxed) ||
	       own->seen - given->tail > (given->mask + 1) / SEQUENCE_SHARE;
}

static void sequence_merge(struct feed *feed, uint64_t mark)
{
	CLAIM_FULL(sequence_heap_is_valid(feed->sequence));
	while (feed->sequence->heaped && feed->sequence->left)
		sequence_run(feed, mark);
	CLAIM_FULL(sequence_heap_is_valid(feed->sequence));
	feed->sequence->heaped = 0;
}

/* Makes the taken records the ones to be written. */
static void sequence_leave(struct feed *feed)
{
	uint32_t count = feed_count(feed), id;

	for (id = 0; id < count; id++)
		if (feed_active(&feed->r->rings[id]) && feed->rings[id].known)
			feed->rings[id].head = feed->rings[id].taken;
}

/* Takes the records of all rings before a tick, in order. */
static void sequence_take_before(struct feed *feed, uint64_t tick,
				 enum feed_depth depth)
{
	uint32_t count = feed_count(feed), id;

	for (id = 0; id < count; id++)
		if (feed_active(&feed->r->rings[id]) && feed->rings[id].known)
			sequence_enter(feed, id, tick, depth);
	sequence_merge(feed, tick);
}

static bool sequence_pressed(const struct feed *feed)
{
	uint32_t count = feed_count(feed), id;

	for (id = 0; id < count; id++)
		if (feed_active(&feed->r->rings[id]) &&
		    feed->rings[id].known && sequence_presses(feed, id))
			return true;
	return false;
}

bool sequence_take(struct feed *feed, uint64_t mark, enum feed_depth depth)
{
	struct sequence *sequence = feed->sequence;
	uint64_t at_once = base_min(sequence->at_once, feed->scanned);

	sequence->left = sequence->parts ? parts_step(sequence->parts) :
					   UINT32_MAX;
	if (depth == FEED_LAST)
		mark = UINT64_MAX;
	mark = sequence->marked = base_max(mark, sequence->marked);
	sequence->ledger->edges.settled = mark;
	sequence_take_before(feed, mark, depth);
	if (sequence->left) {
		ledger_settle(sequence->ledger, mark);
		if (depth == FEED_ENOUGH && sequence_pressed(feed))
			at_once = feed->scanned;
		if (at_once) {
			sequence->forced++;
			sequence_take_before(feed, at_once, depth);
		}
	}
	CLAIM_FULL(sequence->heaped == 0);
	sequence_leave(feed);
	return !sequence->left;
}

void sequence_take_rest(struct feed *feed, uint32_t id)
{
	feed->sequence->left = UINT32_MAX;
	sequence_enter(feed, id, UINT64_MAX, FEED_LAST);
	sequence_merge(feed, UINT64_MAX);
	sequence_leave(feed);
}

void sequence_thread(struct feed *feed, uint32_t id)
{
	ledger_thread_new(feed->sequence->ledger, id, feed->rings[id].serial);
}

void sequence_ring_ends(struct feed *feed, uint32_t id)
{
	if (feed->sequence->cull)
		cull_flush_ring(feed->sequence->cull, id);
}

uint64_t sequence_mark(struct feed *feed, uint64_t mark,
		       enum feed_depth depth)
{
	struct sequence *sequence = feed->sequence;

	if (depth == FEED_LAST)
		ledger_finish(sequence->ledger);
	if (!sequence->cull)
		return mark;
	if (depth == FEED_LAST)
		cull_flush(sequence->cull);
	return base_min(mark, cull_oldest(sequence->cull));
}
