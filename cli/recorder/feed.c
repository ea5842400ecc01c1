/*
 * feed.c: draining rings in passes, and the watermark between passes.
 *
 * WATERMARK. A SYNC promises that no later event has a stamp below T. T is the
 * counter before the heads are read. A ring that is idle then will stamp its
 * next event later. A busy ring may already hold a stamp as old as its last
 * event, so T is at most the stamp of that event.
 *
 * The next events of the ring with the turn (ring.h) may also reuse its last
 * event's stamp. No other ring has later events then, so nothing is delayed.
 *
 * A signal handler may have posted a start or stop before the mark. The writer
 * handles it after the heads were read (control_scanned): then later events are
 * not yet taken, and the SYNC is not yet written.
 *
 * The writer only.
 *
 * The target writes heads, so each scan checks them. Tails and sizes are the
 * recorder's own (recording.c).
 *
 * I1: tail moves only after the chunk was written.
 * I2: images are written before nodes that lie in them, and nodes before events
 *     that refer to them. They are read in the reverse order, heads first.
 */
#include "cli/recorder/feed.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "cli/recorder/base/counter.h"
#include "cli/recorder/emit/varint.h"
#include "cli/recorder/base/futex.h"
#include "cli/recorder/base/time_ns.h"
#include "cli/recorder/base/zeroed.h"
#include "cli/recorder/census.h"
#include "cli/recorder/control.h"
#include "cli/recorder/emit/emit_capture.h"
#include "cli/recorder/emit/emit_info.h"
#include "cli/recorder/books/parts.h"
#include "preload/ring/ring_shared.h"
#include "cli/recorder/sequence.h"
#include "cli/recorder/turn.h"
#include "unwind/claim.h"

#define FEED_AGE_NS (1 * UINT64_C(1000000000))
#define FEED_SYNC_NS (1 * UINT64_C(1000000000))
#define FEED_SYNC_BYTES (32u << 20)
#define FEED_SHARE 2		/* half full: when the producer wakes the
				 * writer */
#define FEED_CALM_PASSES 64	/* without waiting threads: compress better
				 * again */
#define FEED_LARGE (1u << 20)	/* a smaller ring is enlarged first */

int feed_init(struct feed *feed, struct recording *r)
{
	feed->r = r;
	feed->rings = zeroed_alloc(GL_RINGS_MAX * sizeof(*feed->rings));
	feed->rest = zeroed_alloc(sizeof(*feed->rest));
	return feed->rings && feed->rest ? 0 : -ENOMEM;
}

/* Reads and checks a ring's head. */
static uint64_t feed_head(struct feed *feed, uint32_t id)
{
	const struct recording_ring *given = &feed->r->given[id];
	/* pairs with the release of ring_push_*: the records are there */
	uint64_t head = atomic_load_explicit(&feed->r->rings[id].head,
					     memory_order_acquire);
	uint64_t unit = given->flags & GT_THREAD_NESTED ? GL_RECORD_MAX : 8;

	/* a producer that reads a wrong tail could wait forever: only the
	 * writer may write it */
	if (likely(head - given->tail <= given->mask + 1) &&
	    likely(head % unit == 0) &&
	    likely(atomic_load_explicit(&feed->r->rings[id].tail,
					memory_order_relaxed) == given->tail))
		return head;
	recording_damage(feed->r, "how far a ring is filled");
	return given->tail;
}

/* Reads busy and head, in this order. */
static void feed_scan(struct feed *feed, uint32_t id)
{
	struct gl_ring *ring = &feed->r->rings[id];
	struct feed_ring *own = &feed->rings[id];

	/* pairs with the release of ring_leave: idle means that head covers
	 * every stamp taken so far */
	own->busy = atomic_load_explicit(&ring->busy, memory_order_acquire) !=
		    GL_IDLE;
	own->seen = own->head = feed_head(feed, id);
	pool_ready(feed->pool, id, own->head);
	CLAIM_FULL(own->head - feed->r->given[id].tail <=
		   feed->r->given[id].mask + 1);
}

/* Enlarges an empty ring whose thread had to wait. */
static void feed_grow(struct feed *feed, uint32_t id)
{
	struct feed_ring *own = &feed->rings[id];

	if (!pool_grow(feed->pool, id))
		return;
	/* positions start again from 0 */
	if (unlikely(feed->sequence))
		sequence_ring_ends(feed, id);
	own->generation = feed->r->given[id].generation;
	own->taken = own->head = own->seen = 0;
	CLAIM_FULL(feed->r->given[id].tail == 0);
}

/* Wakes a producer that waits; gives it a larger ring if the old one was
 * emptied. */
static void feed_answer(struct feed *feed, uint32_t id)
{
	struct gl_ring *ring = &feed->r->rings[id];
	uint32_t waits = RING_WAITS;

	if (recording_is_nested(feed->r, id)) {
		futex_wake(ring_tail_word(ring));
		return;
	}
	/* pairs with ring_nap: while held, the producer touches nothing */
	if (!atomic_compare_exchange_strong_explicit(
		    &ring->waiting, &waits, RING_HELD, memory_order_acq_rel,
		    memory_order_relaxed))
		return;
	if (atomic_load_explicit(&ring->head, memory_order_acquire) ==
	    feed->r->given[id].tail)
		feed_grow(feed, id);
	atomic_store_explicit(&ring->waiting, RING_AWAKE,
			      memory_order_release);
	futex_wake(ring_tail_word(ring));
	futex_wake(&ring->waiting);
}

static void feed_advance(struct feed *feed, uint32_t id, uint64_t tail)
{
	struct gl_ring *ring = &feed->r->rings[id];
	struct recording_ring *given = &feed->r->given[id];

	assert(tail - given->tail <= given->mask + 1);	/* never backwards */
	CLAIM_FULL(tail - given->tail <= feed->rings[id].head - given->tail);
	given->tail = tail;
	/* pairs with the acquire of ring_used */
	atomic_store_explicit(&ring->tail, tail, memory_order_seq_cst);
	/* shows progress to waiting threads */
	atomic_fetch_add_explicit(&feed->r->shared->beats, 1,
				  memory_order_relaxed);
	feed_answer(feed, id);
}

/* Writes the encoded batch, for positions [first, last). */
static int feed_chunk(struct feed *feed, uint32_t id, uint64_t first,
		      uint64_t last)
{
	struct feed_ring *own = &feed->rings[id];
	struct chunk_range range = {
		.ring = id,
		.generation = own->generation,
		.first = first,
		.last = last,
	};
	uint8_t *to;
	int err;

	if (unlikely(feed->encode->bad)) {
		recording_damage(feed->r, "an event");
		return -EINVAL;
	}
	emit_node_flush(feed->nodes);
	if (!feed->encode->events)
		return feed->out->err;
	to = encode_payload(feed->encode, chunk_payload(feed->out),
			    feed->compress);
	err = chunk_write(feed->out, GT_EVENTS, to, &range);
	if (err)
		return err;
	CLAIM_FULL(feed->encode->blocks <= feed->encode->events);
	feed->events += feed->encode->events;
	feed->blocks += feed->encode->blocks;
	if (recording_is_nested(feed->r, id))
		feed->nested_blocks += feed->encode->blocks;
	else if (recording_thread(feed->r, id)->plain)
		feed->plain_blocks += feed->encode->blocks;
	own->last_tick = base_max(own->last_tick, feed->encode->last);
	return 0;
}

/* Writes data that a reader needs before the events of this scan. */
static void feed_foretell(struct feed *feed)
{
	emit_image_flush(feed->images);
	emit_heap_flush(feed->heaps);
	if (unlikely(atomic_load_explicit(&feed->r->shared->partial,
					  memory_order_relaxed)) &&
	    !feed->told_partial) {
		feed->told_partial = true;
		emit_info_partial(feed->out, 0);
	}
}

static void feed_lose(struct feed *feed, uint64_t unfinished)
{
	if (likely(!unfinished))
		return;
	feed->unfinished += unfinished;
	atomic_fetch_add_explicit(&feed->r->live->dropped, unfinished,
				  memory_order_relaxed);
}

static uint64_t feed_encode(struct feed *feed, const struct encode_span *span)
{
	uint64_t unfinished = 0, end;

	feed_foretell(feed);
	end = encode_events(feed->encode, span, &unfinished);
	feed_lose(feed, unfinished);
	return end;
}

void feed_records(struct feed *feed, uint32_t id, const order_word *from,
		  const order_word *to, uint64_t first, uint64_t last)
{
	const struct encode_span span = {
		.data = (const uint8_t *)from,
		.mask = UINT64_MAX,
		.to = (const uint8_t *)to - (const uint8_t *)from,
	};

	CLAIM_FULL(from <= to && first <= last);
	feed_encode(feed, &span);
	feed_chunk(feed, id, first, last);
}

uint32_t feed_owner(const struct feed *feed, uint32_t id)
{
	uint32_t count = feed_count(feed), i;

	if (!recording_is_nested(feed->r, id))
		return id;
	for (i = 0; i < count; i++)
		if (feed_active(&feed->r->rings[i]) &&
		    atomic_load_explicit(&recording_thread(feed->r, i)->nested,
					 memory_order_relaxed) == id + 1)
			return i;
	return id;
}

uint64_t feed_end(struct feed *feed, uint32_t id, uint64_t from,
		  uint64_t to, enum feed_depth depth)
{
	struct nested *nested = &feed->rings[id].nested;
	struct encode_span span = {
		.data = recording_ring_data(feed->r, id),
		.mask = feed->r->given[id].mask,
		.to = to,
	};
	uint32_t owner;

	if (!recording_is_nested(feed->r, id) || from >= to ||
	    depth == FEED_LAST)
		return to;
	owner = feed_owner(feed, id);
	if (owner != id)
		nested_settled(nested, &feed->r->rings[owner], to);
	/* records not complete up to there never will be */
	span.from = base_min(base_max(from, nested->to), to);
	return encode_nested_end(&span);
}

/* Whether taken events are written directly, without cull or totals. */
static bool feed_writes(const struct feed *feed)
{
	return likely(!feed->sequence) ||
	       (!feed->sequence->cull && !feed->sequence->no_events);
}

static uint64_t feed_drain(struct feed *feed, uint32_t id,
			   enum feed_depth depth)
{
	const struct recording_ring *given = &feed->r->given[id];
	struct feed_ring *own = &feed->rings[id];
	uint64_t start = given->tail;
	struct encode_span span = {
		.data = recording_ring_data(feed->r, id),
		.mask = given->mask,
		.from = start,
		.to = feed_end(feed, id, start, own->head, depth),
		.nested = given->flags & GT_THREAD_NESTED,
	};

	CLAIM_FULL(span.to <= own->head);
	if (!feed_writes(feed) && span.from < span.to) {
		feed_lose(feed, encode_unfinished(&span));
		span.from = span.to;
		feed_advance(feed, id, span.to);
	}
	while (span.from < span.to) {
		uint64_t end;

		end = feed_encode(feed, &span);
		CLAIM_FULL(feed->encode->bad ||
			   (end > span.from && end <= span.to));
		if (feed_chunk(feed, id, span.from, end))
			break;
		span.from = end;
		feed_advance(feed, id, end);
	}
	own->since_ns = 0;
	return span.from - start;
}

/* Whether a ring has enough records, or old enough ones, for a chunk. */
static bool feed_enough(struct feed *feed, uint32_t id, uint64_t now_ns)
{
	const struct gl_ring *ring = &feed->r->rings[id];
	struct feed_ring *own = &feed->rings[id];
	uint64_t size = feed->r->given[id].mask + 1;
	uint64_t pending = own->head - feed->r->given[id].tail;

	if (!pending)
		return false;
	feed->pending = true;
	if (atomic_load_explicit(&ring->waiting, memory_order_relaxed)) {
		feed->pressed |= size >= FEED_LARGE && !feed->rested;
		return true;
	}
	if (pending >= size / FEED_SHARE)
		return true;
	if (!own->since_ns)
		own->since_ns = now_ns;
	return now_ns - own->since_ns >= FEED_AGE_NS;
}

/*
 * Compression adapts to pressure: a thread waits although its ring is large and
 * the writer has not slept since the last pass. The fill level of rings says
 * less: it depends on when the writer was scheduled.
 */
static void feed_adapt(struct feed *feed)
{
	if (feed->pressed) {
		feed->calm = 0;
		if (feed->effort < COMPRESS_FAST)
			feed->effort++;
	} else if (++feed->calm >= FEED_CALM_PASSES) {
		feed->calm = 0;
		if (feed->effort > COMPRESS_SMALL)
			feed->effort--;
	}
	feed->compress->effort = feed->effort;
	assert(feed->effort <= COMPRESS_FAST);
	feed->pressed = false;
}

/* The oldest stamp that a future event of this ring may have. */
static uint64_t feed_last_tick(const struct feed *feed, uint32_t id)
{
	const struct feed_ring *own = &feed->rings[id];
	uint64_t start = feed->r->given[id].start_stamp >> feed->tick_shift;

	return own->known ? base_max(own->last_tick, start) : start;
}

/* Scans all rings; returns the watermark that their state allows. */
static uint64_t feed_scan_once(struct feed *feed)
{
	uint64_t mark = counter_now() >> feed->tick_shift;
	uint64_t turn = ring_turn_of(feed->r->shared) & ~RING_OFFERED;
	uint64_t now_ns = time_ns_now();
	uint32_t count = feed_count(feed), id;

	feed->scanned = mark;
	for (id = 0; id < count; id++) {
		struct feed_ring *own = &feed->rings[id];

		if (!feed_active(&feed->r->rings[id]))
			continue;
		census_announce(feed, id, now_ns);
		CLAIM_FULL(own->known);
		feed_scan(feed, id);
		if (own->busy || turn == recording_ring_address(feed->r, id))
			mark = base_min(mark, feed_last_tick(feed, id));
	}
	return base_max(mark, feed->watermark);
}

/* Scans all rings. A ring finished during the scan was taken beyond the scan of
 * the others, so the scan is repeated. */
static uint64_t feed_scan_all(struct feed *feed)
{
	uint64_t mark, scanned;
	uint32_t finished;

	do {
		finished = feed->finished;
		mark = feed_scan_once(feed);
	} while (feed->finished != finished);
	scanned = feed->scanned;
	if (likely(feed->writer))
		control_scanned(feed->writer);
	/* control_scanned may have scanned again: newer requests wait */
	feed->scanned = scanned;
	return mark;
}

/* Writes all records that were scanned or taken. */
static uint64_t feed_drain_all(struct feed *feed, enum feed_depth depth)
{
	uint64_t now_ns = time_ns_now(), bytes = 0;
	uint32_t count = feed_count(feed), id;

	for (id = 0; id < count && !feed->out->err; id++) {
		struct gl_ring *ring = &feed->r->rings[id];

		if (!feed_active(ring))
			continue;
		census_announce(feed, id, now_ns);
		if (depth == FEED_ENOUGH && likely(!feed->sequence))
			feed_scan(feed, id);
		if (depth != FEED_ENOUGH || feed_enough(feed, id, now_ns))
			bytes += feed_drain(feed, id, depth);
	}
	return bytes;
}

/* After a scan: merges the events before the mark. With --limit, in steps that
 * are written immediately, so that a part can end in time. */
static void feed_take(struct feed *feed, uint64_t mark, enum feed_depth depth)
{
	struct sequence *sequence = feed->sequence;

	while (sequence_take(feed, mark, depth) && !feed->out->err) {
		feed->since_sync += feed_drain_all(feed, FEED_ALL);
		parts_look(sequence->parts);
	}
}

/* Takes all events in order, without waiting for threads in a hook: a ring's
 * thread has ended. */
static void feed_take_all(struct feed *feed)
{
	uint64_t before = feed->sequence->at_once;
	/* during feed_until: later events must not be counted yet */
	uint64_t until = before ? before : UINT64_MAX;

	feed->sequence->at_once = until;
	feed_take(feed, base_min(feed_scan_all(feed), until), FEED_ALL);
	feed->sequence->at_once = before;
}

uint64_t feed_pass(struct feed *feed, enum feed_depth depth)
{
	uint64_t bytes;

	if (unlikely(feed->sequence) && depth == FEED_ENOUGH)
		feed_take(feed, feed_scan_all(feed), depth);
	bytes = feed_drain_all(feed, depth);
	feed->since_sync += bytes;
	if (depth == FEED_ENOUGH) {
		feed_adapt(feed);
		turn_look(feed, time_ns_now());
	}
	return bytes;
}

bool feed_sync_due(const struct feed *feed, uint64_t now_ns)
{
	bool old = now_ns - feed->sync_ns >= FEED_SYNC_NS;

	if (!feed->pending && !feed->since_sync)
		return old && emit_rest_due(feed->rest, feed->r);
	return feed->since_sync >= FEED_SYNC_BYTES || old;
}

void feed_moment(struct feed *feed, uint64_t tick, uint64_t ns,
		 uint64_t realtime_ns)
{
	uint8_t *to = varint_put(chunk_payload(feed->out), feed->watermark);

	to = varint_put(to, tick);
	to = varint_put(to, ns);
	to = varint_put(to, realtime_ns);
	to = varint_put(to, atomic_load_explicit(&feed->r->live->dropped,
						 memory_order_relaxed));
	chunk_write(feed->out, GT_SYNC, to, NULL);
}

void feed_clocks(struct feed *feed)
{
	uint64_t cycles, ns = time_ns_moment(&cycles);

	feed_moment(feed, cycles >> feed->tick_shift, ns,
		    time_ns_of(CLOCK_REALTIME));
}

void feed_sync(struct feed *feed, enum feed_depth depth)
{
	uint64_t mark = feed_scan_all(feed);
	uint64_t now_ns = time_ns_now();

	if (unlikely(feed->sequence)) {
		feed_take(feed, mark, depth);
		mark = base_max(sequence_mark(feed, mark, depth),
				feed->watermark);
	}
	feed_pass(feed, depth);
	emit_rest(feed->rest, feed->r, feed->out);
	emit_image_flush_gone(feed->images);
	if (depth == FEED_LAST)
		emit_capture_all(feed->out, feed->r);
	CLAIM_FULL(mark >= feed->watermark);
	feed->watermark = mark;
	feed->sync_ns = now_ns;
	feed->since_sync = 0;
	feed->pending = false;
	feed_clocks(feed);
}

void feed_look(struct feed *feed)
{
	feed_scan_all(feed);
}

uint64_t feed_all(struct feed *feed)
{
	uint64_t mark = feed_scan_all(feed);

	if (feed->sequence)
		feed_take(feed, mark, FEED_ALL);
	feed_pass(feed, FEED_ALL);
	return mark;
}

void feed_until(struct feed *feed, uint64_t tick)
{
	uint64_t before = feed->sequence->at_once;

	/* do not wait for threads in a hook before this tick */
	feed->sequence->at_once = tick;
	feed_take(feed, base_min(feed_scan_all(feed), tick), FEED_ALL);
	feed->sequence->at_once = before;
	feed_pass(feed, FEED_ALL);
}

uint32_t feed_thread_number(const struct feed *feed, uint32_t ring,
			    uint32_t serial)
{
	const struct feed_ring *own = &feed->rings[ring];

	if (own->serial == serial)
		return own->number;
	if (serial <= feed->serials_before)
		return 0;
	CLAIM_FULL(serial <= feed->serials);
	return serial - feed->serials_before + feed->numbers_before;
}

/* Writes the cost of a thread's captures, before its state is reused. */
static void feed_describe(struct feed *feed, uint32_t id)
{
	const struct capture_report *state =
		&recording_thread(feed->r, id)->captures;

	feed->barriers_placed += state->barriers_placed;
	feed->barriers_met += state->barriers_met;
	emit_capture(feed->out, feed->r, id);
}

void feed_finish(struct feed *feed, uint32_t id, uint64_t end_stamp)
{
	struct gl_ring *ring = &feed->r->rings[id];

	if (!feed_active(ring))
		return;
	census_announce(feed, id, time_ns_now());
	if (unlikely(feed->sequence))
		feed_take_all(feed);
	feed_scan(feed, id);
	if (unlikely(feed->sequence))
		sequence_take_rest(feed, id);
	feed->since_sync += feed_drain(feed, id, FEED_LAST);
	CLAIM_FULL(feed->out->err || feed->r->damage ||
		   feed->r->given[id].tail == feed->rings[id].head);
	if (unlikely(feed->sequence))
		sequence_ring_ends(feed, id);
	feed->finished++;
	if (feed->out->err)
		return;
	if (!recording_is_nested(feed->r, id))
		feed_describe(feed, id);
	census_record(feed, GT_THREAD_END, id, end_stamp);
	feed->rings[id].known = false;
	order_write_release(ring, state, GL_RING_UNUSED);
	pool_close(feed->pool, id);
}
