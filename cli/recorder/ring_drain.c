/*
 * ring_drain.c: draining rings in passes, and the watermark between passes.
 *
 * WATERMARK. A SYNC promises that no later event has a stamp below T. T is the
 * counter before the heads are read. A ring that is idle then will stamp its
 * next event later. A busy ring may already hold a stamp as old as its last
 * event, so T is at most the stamp of that event.
 *
 * The next events of the ring with the turn (ring.h) may also reuse its last
 * event's stamp. No other ring has later events then, so nothing is delayed.
 *
 * A signal handler may have posted a start or stop before the mark. The
 * recorder handles it after the heads were read (control_scanned): then later
 * events are not yet taken, and the SYNC is not yet written.
 *
 * The recorder only.
 *
 * The target writes heads, so each scan checks them. Tails and sizes are the
 * recorder's own (recording.c).
 *
 * I1: tail moves only after the chunk was written.
 * I2: images are written before nodes that lie in them, and nodes before events
 *     that refer to them. They are read in the reverse order, heads first.
 */
#include "cli/recorder/ring_drain.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "cli/recorder/base/counter.h"
#include "cli/recorder/emit/varint.h"
#include "cli/recorder/base/futex.h"
#include "cli/recorder/base/time_ns.h"
#include "cli/recorder/base/zeroed.h"
#include "cli/recorder/thread_list.h"
#include "cli/recorder/control.h"
#include "cli/recorder/emit/emit_capture.h"
#include "cli/recorder/emit/emit_info.h"
#include "cli/recorder/live_blocks/rotation.h"
#include "preload/ring/ring_shared.h"
#include "cli/recorder/event_merge.h"
#include "cli/recorder/turn.h"
#include "unwind/base/assertion.h"

#define DRAIN_AGE_NS (1 * UINT64_C(1000000000))
#define DRAIN_SYNC_NS (1 * UINT64_C(1000000000))
#define DRAIN_SYNC_BYTES (32u << 20)
#define DRAIN_SHARE 2		/* half full: when the producer wakes the
				 * recorder */
#define DRAIN_CALM_PASSES 64	/* without waiting threads: compress better
				 * again */
#define DRAIN_LARGE (1u << 20)	/* a smaller ring is enlarged first */

int drain_init(struct ring_drain *drain, struct recording *r)
{
	drain->r = r;
	drain->rings = zeroed_alloc(GL_RINGS_MAX * sizeof(*drain->rings));
	drain->rest = zeroed_alloc(sizeof(*drain->rest));
	return drain->rings && drain->rest ? 0 : -ENOMEM;
}

/* Reads and checks a ring's head. */
static uint64_t drain_head(struct ring_drain *drain, uint32_t id)
{
	const struct recording_ring *given = &drain->r->given[id];
	/* pairs with the release of ring_push_*: the records are there */
	uint64_t head = atomic_load_explicit(&drain->r->rings[id].head,
					     memory_order_acquire);
	uint64_t unit = given->flags & GT_THREAD_NESTED ? GL_RECORD_MAX : 8;

	/* a producer that reads a wrong tail could wait forever: only the
	 * recorder may write it */
	if (likely(head - given->tail <= given->mask + 1) &&
	    likely(head % unit == 0) &&
	    likely(atomic_load_explicit(&drain->r->rings[id].tail,
					memory_order_relaxed) == given->tail))
		return head;
	recording_damage(drain->r, "how far a ring is filled");
	return given->tail;
}

/* Reads busy and head, in this order. */
static void drain_scan(struct ring_drain *drain, uint32_t id)
{
	struct gl_ring *ring = &drain->r->rings[id];
	struct drain_source *own = &drain->rings[id];

	/* pairs with the release of ring_leave: idle means that head covers
	 * every stamp taken so far */
	own->busy = atomic_load_explicit(&ring->busy, memory_order_acquire) !=
		    GL_IDLE;
	own->seen = own->head = drain_head(drain, id);
	ring_pool_ready(drain->pool, id, own->head);
	DEBUG_ASSERT(own->head - drain->r->given[id].tail <=
		     drain->r->given[id].mask + 1);
}

/* Enlarges an empty ring whose thread had to wait. */
static void drain_grow(struct ring_drain *drain, uint32_t id)
{
	struct drain_source *own = &drain->rings[id];

	if (!ring_pool_grow(drain->pool, id))
		return;
	/* positions start again from 0 */
	if (unlikely(drain->merge))
		event_merge_ring_ends(drain, id);
	own->generation = drain->r->given[id].generation;
	own->taken = own->head = own->seen = 0;
	DEBUG_ASSERT(drain->r->given[id].tail == 0);
}

/* Wakes a producer that waits; gives it a larger ring if the old one was
 * emptied. */
static void drain_reply(struct ring_drain *drain, uint32_t id)
{
	struct gl_ring *ring = &drain->r->rings[id];
	uint32_t waits = RING_WAITS;

	if (recording_is_nested(drain->r, id)) {
		futex_wake(ring_tail_word(ring));
		return;
	}
	/* pairs with ring_nap: while held, the producer touches nothing */
	if (!atomic_compare_exchange_strong_explicit(
		    &ring->waiting, &waits, RING_HELD, memory_order_acq_rel,
		    memory_order_relaxed))
		return;
	if (atomic_load_explicit(&ring->head, memory_order_acquire) ==
	    drain->r->given[id].tail)
		drain_grow(drain, id);
	atomic_store_explicit(&ring->waiting, RING_AWAKE,
			      memory_order_release);
	futex_wake(ring_tail_word(ring));
	futex_wake(&ring->waiting);
}

static void drain_advance(struct ring_drain *drain, uint32_t id, uint64_t tail)
{
	struct gl_ring *ring = &drain->r->rings[id];
	struct recording_ring *given = &drain->r->given[id];

	assert(tail - given->tail <= given->mask + 1);	/* never backwards */
	DEBUG_ASSERT(tail - given->tail <= drain->rings[id].head - given->tail);
	given->tail = tail;
	/* pairs with the acquire of ring_used */
	atomic_store_explicit(&ring->tail, tail, memory_order_seq_cst);
	/* shows progress to waiting threads */
	atomic_fetch_add_explicit(&drain->r->shared->beats, 1,
				  memory_order_relaxed);
	drain_reply(drain, id);
}

/* Writes the encoded batch, for positions [first, last). */
static int drain_chunk(struct ring_drain *drain, uint32_t id, uint64_t first,
		       uint64_t last)
{
	struct drain_source *own = &drain->rings[id];
	struct chunk_range range = {
		.ring = id,
		.generation = own->generation,
		.first = first,
		.last = last,
	};
	uint8_t *to;
	int err;

	if (unlikely(drain->encode->bad)) {
		recording_damage(drain->r, "an event");
		return -EINVAL;
	}
	emit_node_flush(drain->nodes);
	if (!drain->encode->events)
		return drain->out->err;
	to = encode_payload(drain->encode, chunk_payload(drain->out),
			    drain->compress);
	err = chunk_write(drain->out, GT_EVENTS, to, &range);
	if (err)
		return err;
	DEBUG_ASSERT(drain->encode->blocks <= drain->encode->events);
	drain->events += drain->encode->events;
	drain->blocks += drain->encode->blocks;
	if (recording_is_nested(drain->r, id))
		drain->nested_blocks += drain->encode->blocks;
	else if (recording_thread(drain->r, id)->plain)
		drain->plain_blocks += drain->encode->blocks;
	own->last_tick = base_max(own->last_tick, drain->encode->last);
	return 0;
}

/* Writes data that a reader needs before the events of this scan. */
static void drain_reserve(struct ring_drain *drain)
{
	emit_image_flush(drain->images);
	emit_heap_flush(drain->heaps);
	if (unlikely(atomic_load_explicit(&drain->r->shared->partial,
					  memory_order_relaxed)) &&
	    !drain->reported_partial) {
		drain->reported_partial = true;
		emit_info_partial(drain->out, 0);
	}
}

static void drain_lose(struct ring_drain *drain, uint64_t unfinished)
{
	if (likely(!unfinished))
		return;
	drain->unfinished += unfinished;
	atomic_fetch_add_explicit(&drain->r->live->dropped, unfinished,
				  memory_order_relaxed);
}

static uint64_t drain_encode(struct ring_drain *drain,
			     const struct encode_span *span)
{
	uint64_t unfinished = 0, end;

	drain_reserve(drain);
	end = encode_events(drain->encode, span, &unfinished);
	drain_lose(drain, unfinished);
	return end;
}

void drain_records(struct ring_drain *drain, uint32_t id,
		   const order_word *from, const order_word *to, uint64_t first,
		   uint64_t last)
{
	const struct encode_span span = {
		.data = (const uint8_t *)from,
		.mask = UINT64_MAX,
		.to = (const uint8_t *)to - (const uint8_t *)from,
	};

	DEBUG_ASSERT(from <= to && first <= last);
	drain_encode(drain, &span);
	drain_chunk(drain, id, first, last);
}

uint32_t drain_owner(const struct ring_drain *drain, uint32_t id)
{
	uint32_t count = drain_count(drain), i;

	if (!recording_is_nested(drain->r, id))
		return id;
	for (i = 0; i < count; i++)
		if (drain_active(&drain->r->rings[i]) &&
		    atomic_load_explicit(&recording_thread(drain->r, i)->nested,
					 memory_order_relaxed) == id + 1)
			return i;
	return id;
}

uint64_t drain_end(struct ring_drain *drain, uint32_t id, uint64_t from,
		   uint64_t to, enum drain_depth depth)
{
	struct nested_ring *nested = &drain->rings[id].nested;
	struct encode_span span = {
		.data = recording_ring_data(drain->r, id),
		.mask = drain->r->given[id].mask,
		.to = to,
	};
	uint32_t owner;

	if (!recording_is_nested(drain->r, id) || from >= to ||
	    depth == DRAIN_LAST)
		return to;
	owner = drain_owner(drain, id);
	if (owner != id)
		nested_settled(nested, &drain->r->rings[owner], to);
	/* records not complete up to there never will be */
	span.from = base_min(base_max(from, nested->to), to);
	return encode_nested_end(&span);
}

/* Whether taken events are written directly, without cull or totals. */
static bool drain_writes(const struct ring_drain *drain)
{
	return likely(!drain->merge) ||
	       (!drain->merge->cull && !drain->merge->no_events);
}

static uint64_t drain_ring(struct ring_drain *drain, uint32_t id,
			   enum drain_depth depth)
{
	const struct recording_ring *given = &drain->r->given[id];
	struct drain_source *own = &drain->rings[id];
	uint64_t start = given->tail;
	struct encode_span span = {
		.data = recording_ring_data(drain->r, id),
		.mask = given->mask,
		.from = start,
		.to = drain_end(drain, id, start, own->head, depth),
		.nested = given->flags & GT_THREAD_NESTED,
	};

	DEBUG_ASSERT(span.to <= own->head);
	if (!drain_writes(drain) && span.from < span.to) {
		drain_lose(drain, encode_unfinished(&span));
		span.from = span.to;
		drain_advance(drain, id, span.to);
	}
	while (span.from < span.to) {
		uint64_t end;

		end = drain_encode(drain, &span);
		DEBUG_ASSERT(drain->encode->bad ||
			     (end > span.from && end <= span.to));
		if (drain_chunk(drain, id, span.from, end))
			break;
		span.from = end;
		drain_advance(drain, id, end);
	}
	own->since_ns = 0;
	return span.from - start;
}

/* Whether a ring has enough records, or old enough ones, for a chunk. */
static bool drain_enough(struct ring_drain *drain, uint32_t id, uint64_t now_ns)
{
	const struct gl_ring *ring = &drain->r->rings[id];
	struct drain_source *own = &drain->rings[id];
	uint64_t size = drain->r->given[id].mask + 1;
	uint64_t pending = own->head - drain->r->given[id].tail;

	if (!pending)
		return false;
	drain->pending = true;
	if (atomic_load_explicit(&ring->waiting, memory_order_relaxed)) {
		drain->pressed |= size >= DRAIN_LARGE && !drain->rested;
		return true;
	}
	if (pending >= size / DRAIN_SHARE)
		return true;
	if (!own->since_ns)
		own->since_ns = now_ns;
	return now_ns - own->since_ns >= DRAIN_AGE_NS;
}

/*
 * Compression adapts to pressure: a thread waits although its ring is large and
 * the recorder has not slept since the last pass. The fill level of rings says
 * less: it depends on when the recorder was scheduled.
 */
static void drain_adapt(struct ring_drain *drain)
{
	if (drain->pressed) {
		drain->calm = 0;
		if (drain->effort < COMPRESS_FAST)
			drain->effort++;
	} else if (++drain->calm >= DRAIN_CALM_PASSES) {
		drain->calm = 0;
		if (drain->effort > COMPRESS_SMALL)
			drain->effort--;
	}
	drain->compress->effort = drain->effort;
	assert(drain->effort <= COMPRESS_FAST);
	drain->pressed = false;
}

/* The oldest stamp that a future event of this ring may have. */
static uint64_t drain_last_tick(const struct ring_drain *drain, uint32_t id)
{
	const struct drain_source *own = &drain->rings[id];
	uint64_t start = drain->r->given[id].start_stamp >> drain->tick_shift;

	return own->known ? base_max(own->last_tick, start) : start;
}

/* Scans all rings; returns the watermark that their state allows. */
static uint64_t drain_scan_once(struct ring_drain *drain)
{
	uint64_t mark = counter_now() >> drain->tick_shift;
	uint64_t turn = ring_turn_of(drain->r->shared) & ~RING_OFFERED;
	uint64_t now_ns = time_ns_now();
	uint32_t count = drain_count(drain), id;

	drain->scanned = mark;
	for (id = 0; id < count; id++) {
		struct drain_source *own = &drain->rings[id];

		if (!drain_active(&drain->r->rings[id]))
			continue;
		thread_list_announce(drain, id, now_ns);
		DEBUG_ASSERT(own->known);
		drain_scan(drain, id);
		if (own->busy || turn == recording_ring_address(drain->r, id))
			mark = base_min(mark, drain_last_tick(drain, id));
	}
	return base_max(mark, drain->watermark);
}

/* Scans all rings. A ring finished during the scan was taken beyond the scan of
 * the others, so the scan is repeated. */
static uint64_t drain_scan_all(struct ring_drain *drain)
{
	uint64_t mark, scanned;
	uint32_t finished;

	do {
		finished = drain->finished;
		mark = drain_scan_once(drain);
	} while (drain->finished != finished);
	scanned = drain->scanned;
	if (likely(drain->recorder))
		control_scanned(drain->recorder);
	/* control_scanned may have scanned again: newer requests wait */
	drain->scanned = scanned;
	return mark;
}

/* Writes all records that were scanned or taken. */
static uint64_t drain_all_rings(struct ring_drain *drain,
				enum drain_depth depth)
{
	uint64_t now_ns = time_ns_now(), bytes = 0;
	uint32_t count = drain_count(drain), id;

	for (id = 0; id < count && !drain->out->err; id++) {
		struct gl_ring *ring = &drain->r->rings[id];

		if (!drain_active(ring))
			continue;
		thread_list_announce(drain, id, now_ns);
		if (depth == DRAIN_ENOUGH && likely(!drain->merge))
			drain_scan(drain, id);
		if (depth != DRAIN_ENOUGH || drain_enough(drain, id, now_ns))
			bytes += drain_ring(drain, id, depth);
	}
	return bytes;
}

/* After a scan: merges the events before the mark. With --limit, in steps that
 * are written immediately, so that a part can end in time. */
static void drain_take(struct ring_drain *drain, uint64_t mark,
		       enum drain_depth depth)
{
	struct event_merge *merge = drain->merge;

	while (event_merge_take(drain, mark, depth) && !drain->out->err) {
		drain->since_sync += drain_all_rings(drain, DRAIN_ALL);
		rotation_poll(merge->rotation);
	}
}

/* Takes all events in order, without waiting for threads in a hook: a ring's
 * thread has ended. */
static void drain_take_all(struct ring_drain *drain)
{
	uint64_t before = drain->merge->at_once;
	/* during drain_until: later events must not be counted yet */
	uint64_t until = before ? before : UINT64_MAX;

	drain->merge->at_once = until;
	drain_take(drain, base_min(drain_scan_all(drain), until), DRAIN_ALL);
	drain->merge->at_once = before;
}

uint64_t drain_pass(struct ring_drain *drain, enum drain_depth depth)
{
	uint64_t bytes;

	if (unlikely(drain->merge) && depth == DRAIN_ENOUGH)
		drain_take(drain, drain_scan_all(drain), depth);
	bytes = drain_all_rings(drain, depth);
	drain->since_sync += bytes;
	if (depth == DRAIN_ENOUGH) {
		drain_adapt(drain);
		turn_poll(drain, time_ns_now());
	}
	return bytes;
}

bool drain_sync_due(const struct ring_drain *drain, uint64_t now_ns)
{
	bool old = now_ns - drain->sync_ns >= DRAIN_SYNC_NS;

	if (!drain->pending && !drain->since_sync)
		return old && emit_skipped_due(drain->rest, drain->r);
	return drain->since_sync >= DRAIN_SYNC_BYTES || old;
}

void drain_moment(struct ring_drain *drain, uint64_t tick, uint64_t ns,
		  uint64_t realtime_ns)
{
	uint8_t *to = varint_put(chunk_payload(drain->out), drain->watermark);

	to = varint_put(to, tick);
	to = varint_put(to, ns);
	to = varint_put(to, realtime_ns);
	to = varint_put(to, atomic_load_explicit(&drain->r->live->dropped,
						 memory_order_relaxed));
	chunk_write(drain->out, GT_SYNC, to, NULL);
}

void drain_clocks(struct ring_drain *drain)
{
	uint64_t cycles, ns = time_ns_moment(&cycles);

	drain_moment(drain, cycles >> drain->tick_shift, ns,
		     time_ns_of(CLOCK_REALTIME));
}

void drain_sync(struct ring_drain *drain, enum drain_depth depth)
{
	uint64_t mark = drain_scan_all(drain);
	uint64_t now_ns = time_ns_now();

	if (unlikely(drain->merge)) {
		drain_take(drain, mark, depth);
		mark = base_max(event_merge_mark(drain, mark, depth),
				drain->watermark);
	}
	drain_pass(drain, depth);
	emit_skipped(drain->rest, drain->r, drain->out);
	emit_image_flush_gone(drain->images);
	if (depth == DRAIN_LAST)
		emit_capture_all(drain->out, drain->r);
	DEBUG_ASSERT(mark >= drain->watermark);
	drain->watermark = mark;
	drain->sync_ns = now_ns;
	drain->since_sync = 0;
	drain->pending = false;
	drain_clocks(drain);
}

void drain_poll(struct ring_drain *drain)
{
	drain_scan_all(drain);
}

uint64_t drain_all(struct ring_drain *drain)
{
	uint64_t mark = drain_scan_all(drain);

	if (drain->merge)
		drain_take(drain, mark, DRAIN_ALL);
	drain_pass(drain, DRAIN_ALL);
	return mark;
}

void drain_until(struct ring_drain *drain, uint64_t tick)
{
	uint64_t before = drain->merge->at_once;

	/* do not wait for threads in a hook before this tick */
	drain->merge->at_once = tick;
	drain_take(drain, base_min(drain_scan_all(drain), tick), DRAIN_ALL);
	drain->merge->at_once = before;
	drain_pass(drain, DRAIN_ALL);
}

uint32_t drain_thread_number(const struct ring_drain *drain, uint32_t ring,
			     uint32_t serial)
{
	const struct drain_source *own = &drain->rings[ring];

	if (own->serial == serial)
		return own->number;
	if (serial <= drain->serials_before)
		return 0;
	DEBUG_ASSERT(serial <= drain->serials);
	return serial - drain->serials_before + drain->numbers_before;
}

/* Writes the cost of a thread's captures, before its state is reused. */
static void drain_describe(struct ring_drain *drain, uint32_t id)
{
	const struct capture_report *state =
		&recording_thread(drain->r, id)->captures;

	drain->barriers_placed += state->barriers_placed;
	drain->barriers_met += state->barriers_met;
	emit_capture(drain->out, drain->r, id);
}

void drain_finish(struct ring_drain *drain, uint32_t id, uint64_t end_stamp)
{
	struct gl_ring *ring = &drain->r->rings[id];

	if (!drain_active(ring))
		return;
	thread_list_announce(drain, id, time_ns_now());
	if (unlikely(drain->merge))
		drain_take_all(drain);
	drain_scan(drain, id);
	if (unlikely(drain->merge))
		event_merge_take_rest(drain, id);
	drain->since_sync += drain_ring(drain, id, DRAIN_LAST);
	DEBUG_ASSERT(drain->out->err || drain->r->damage ||
		     drain->r->given[id].tail == drain->rings[id].head);
	if (unlikely(drain->merge))
		event_merge_ring_ends(drain, id);
	drain->finished++;
	if (drain->out->err)
		return;
	if (!recording_is_nested(drain->r, id))
		drain_describe(drain, id);
	thread_list_record(drain, GT_THREAD_END, id, end_stamp);
	drain->rings[id].known = false;
	order_write_release(ring, state, GL_RING_UNUSED);
	ring_pool_close(drain->pool, id);
}
