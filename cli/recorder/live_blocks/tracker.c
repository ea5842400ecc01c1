/*
 * tracker.c: see tracker.h. The recorder only.
 */
#include "cli/recorder/live_blocks/tracker.h"

#include <assert.h>
#include <errno.h>
#include <sched.h>
#include <string.h>

#include "cli/recorder/base/counter.h"
#include "cli/recorder/live_blocks/block_table_reply.h"
#include "cli/recorder/emit/emit_skipped.h"
#include "library/gnomon/gnomon.h"
#include "cli/recorder/base/time_ns.h"
#include "cli/recorder/recorder.h"
#include "unwind/base/assertion.h"

/* Memory budget: a multiple of --memory, plus a minimum. Hardly any program
 * needs much of it. */
#define TRACKER_MEMORIES 8
#define TRACKER_MIN (UINT64_C(32) << 20)
#define TRACKER_TIMEOUT_NS UINT64_C(3000000)	/* longest wait for a thread in
						 * a hook, */
#define TRACKER_EMULATED_NS UINT64_C(300000000)	/* and for an emulated one,
						 * whose code is translated
						 * first */

/* Features that the options request. */
static uint32_t tracker_options(void)
{
	const uint64_t *number = recording_options->number;
	uint32_t wants = 0;

	if (totals_wanted())
		wants |= BLOCKS_FOR_TOTALS;	/* no event is written anyway */
	else if (number[OPTION_CULL])
		wants |= BLOCKS_FOR_CULL;
	if (number[OPTION_LIMIT])
		wants |= BLOCKS_FOR_ROTATION;
	if (number[OPTION_STATS_EVERY])
		wants |= BLOCKS_FOR_STATS;
	return wants;
}

/* A program may request the live heap only. The other features change the
 * trace's files, so only options request them. */
static uint32_t tracker_wanted(const struct recorder *rec)
{
	return rec->tracker.own |
	       (atomic_load_explicit(&rec->r->shared->blocks_users,
				     memory_order_relaxed) & BLOCKS_FOR_API);
}

/* Adds threads that started before the live heap was opened. */
static void tracker_threads(struct ring_drain *drain)
{
	uint32_t count = drain_count(drain), id;

	for (id = 0; id < count; id++) {
		if (!drain_active(&drain->r->rings[id]) ||
		    !drain->rings[id].known)
			continue;
		drain->rings[id].taken = drain->rings[id].head =
			drain->r->given[id].tail;
		event_merge_thread(drain, id);
	}
}

static int tracker_cull(struct recorder *rec, uint64_t bytes)
{
	struct tracker *tracker = &rec->tracker;

	tracker->cull.age_ns = recording_options->number[OPTION_CULL];
	tracker->cull.max = recording_options->number[OPTION_CULL_PENDING];
	tracker->merge.cull = &tracker->cull;
	return cull_init(&tracker->cull, &rec->drain, &tracker->table, bytes);
}

/* Measures the length of a tick, more precisely each time. */
static void tracker_measure(struct recorder *rec, uint64_t now_ns)
{
	const struct gl_header *live = &rec->live.shape;
	uint64_t ticks = (counter_now() - live->counter0) >> live->tick_shift;
	uint64_t ns = now_ns - live->monotonic0_ns;

	rec->tracker.table.tick_ps = ticks ? base_max(ns * 1000 / ticks, 1) :
					  1000;
}

static int tracker_open(struct recorder *rec, uint32_t wants)
{
	const struct gl_header *live = &rec->live.shape;
	struct tracker *tracker = &rec->tracker;
	uint64_t bytes = recording_options->number[OPTION_MEMORY] *
			 TRACKER_MEMORIES + TRACKER_MIN;
	int err;

	assert(!tracker->open && rec->drain.merge == NULL);
	err = block_table_init(&tracker->table, bytes, rec->live.nodes_max,
			       live->window_ticks,
			       recording_options->number[OPTION_SAMPLE]);
	/* a forked child frees blocks of its parent */
	tracker->table.edges.gap = rec->r->forked ||
		recording_options->number[OPTION_SAMPLE];
	tracker_measure(rec, time_ns_now());
	if (!err)
		err = event_merge_init(&tracker->merge, &tracker->table);
	if (!err && wants & BLOCKS_FOR_CULL)
		err = tracker_cull(rec, bytes);
	if (!err && wants & BLOCKS_FOR_TOTALS)
		err = totals_init(&tracker->totals, rec, bytes);
	if (!err && wants & BLOCKS_FOR_ROTATION)
		err = rotation_init(&tracker->rotation, rec);
	if (!err && wants & BLOCKS_FOR_STATS)
		err = stats_init(&tracker->stats, rec);
	if (err)
		return err;
	if (wants & BLOCKS_FOR_ROTATION)
		tracker->merge.rotation = &tracker->rotation;
	tracker->merge.no_events = wants & BLOCKS_FOR_TOTALS;
	tracker->merge.control = &rec->control;
	rec->drain.merge = &tracker->merge;
	tracker_threads(&rec->drain);
	tracker->open = true;
	return 0;
}

static void tracker_give_up(struct recorder *rec)
{
	rec->tracker.failed = true;
	rec->drain.merge = NULL;
}

/* From the first event on, as the target may be far ahead of the recorder. */
int tracker_begin(struct recorder *rec)
{
	uint32_t options = tracker_options();
	int err;

	rec->tracker.own = options;
	rec->tracker.wants = tracker_wanted(rec);
	if (!rec->tracker.wants)
		return 0;
	err = tracker_open(rec, rec->tracker.wants);
	if (err && !options) {
		/* only the program requested it: go on without it */
		tracker_give_up(rec);
		return 0;
	}
	return err;
}

void tracker_poll(struct recorder *rec, uint64_t now_ns)
{
	uint32_t wants = tracker_wanted(rec);
	struct tracker *tracker = &rec->tracker;

	if (likely(!wants))
		return;
	tracker->wants = wants;
	if (!tracker->open && !tracker->failed) {
		/* events still in the rings come from before */
		drain_all(&rec->drain);
		if (tracker_open(rec, wants))
			tracker_give_up(rec);
		/* older blocks are unknown */
		tracker->table.edges.gap = true;
	}
	if (!tracker->open)
		return;
	DEBUG_ASSERT(rec->drain.merge == &tracker->merge);
	tracker_measure(rec, now_ns);
	if (unlikely(atomic_load_explicit(&rec->r->shared->partial,
					  memory_order_relaxed)))
		tracker->table.edges.gap = true;
	if (tracker->merge.no_events)
		totals_poll(&tracker->totals, now_ns);
	if (tracker->merge.cull)
		cull_poll(&tracker->cull, now_ns);
	if (tracker->merge.rotation)
		rotation_poll(&tracker->rotation);
	if (tracker->stats.every_ns)
		stats_poll(&tracker->stats, now_ns);
}

void tracker_finish(struct recorder *rec)
{
	struct tracker *tracker = &rec->tracker;

	if (!tracker->open)
		return;
	if (tracker->merge.cull && tracker->cull.totals.count)
		cull_report(&tracker->cull);
	if (tracker->merge.no_events)
		totals_report(&tracker->totals);
	if (tracker->stats.every_ns)
		stats_finish(&tracker->stats);
}

/*
 * Takes all records from before this call. A thread with the turn (ring.h) may
 * reuse an old stamp, so the turn is withdrawn. A thread in a hook may hold an
 * old stamp, so it is waited for, unless it made the request.
 */
static void tracker_catch_up(struct recorder *rec, bool nested)
{
	uint64_t max_ns = rec->r->emulated ? TRACKER_EMULATED_NS :
					    TRACKER_TIMEOUT_NS;
	uint64_t now_ns = time_ns_now(), until;

	atomic_store_explicit(&rec->r->shared->turn, 0, memory_order_seq_cst);
	until = counter_now() >> rec->drain.tick_shift;
	while (drain_all(&rec->drain) < until && !nested &&
	       time_ns_now() - now_ns < max_ns)
		sched_yield();
}

int tracker_settle(struct recorder *rec, bool nested)
{
	tracker_poll(rec, time_ns_now());
	if (!rec->tracker.open)
		return -ENOMEM;
	tracker_catch_up(rec, nested);
	return 0;
}

static void tracker_rest(const struct recording *r, struct gnomon_sizes *sizes)
{
	uint64_t rest[GT_CLASSES][GT_REST_VALUES];
	unsigned i;

	emit_skipped_sum(r, rest);
	for (i = 0; i < GT_CLASSES; i++)
		sizes->rest[base_min(i, GNOMON_CLASSES - 1)] +=
			rest[i][GT_REST_ALLOCATIONS];
}

/* Converts an answer, which consists of 64-bit words, to the target's byte
 * order. */
static void tracker_put(struct gl_request *request)
{
	order_word *to = (order_word *)request->data;
	uint32_t i;

	for (i = 0; i < request->bytes / sizeof(*to); i++)
		order_word_put(&to[i], ((uint64_t *)request->data)[i]);
}

long tracker_reply(struct recorder *rec, struct gl_request *request)
{
	int err = tracker_settle(rec, request->arg[1]);

	DEBUG_ASSERT(request->bytes <= GL_REQUEST_ROOM);
	memset(request->data, 0, request->bytes);
	if (!err)
		err = block_table_reply(&rec->tracker.table, request->number,
					request->arg[0], request->data,
					request->bytes);
	if (err != -EINVAL && request->number == BLOCKS_REQUEST_CLASSES)
		tracker_rest(rec->r, (struct gnomon_sizes *)request->data);
	tracker_put(request);
	return err;
}

void tracker_begin_anew(struct recorder *rec, uint64_t tick, bool unseen)
{
	struct tracker *tracker = &rec->tracker;

	if (!tracker->open)
		return;
	drain_until(&rec->drain, tick);
	if (tracker->merge.no_events) {
		totals_report(&tracker->totals);
		totals_forget(&tracker->totals);
	}
	if (tracker->merge.cull) {
		cull_flush(&tracker->cull);
		if (tracker->cull.totals.count)
			cull_report(&tracker->cull);
	}
	if (unseen)
		block_table_forget(&tracker->table, tick);
	else
		block_table_clear(&tracker->table, tick);
	if (tracker->merge.cull)
		cull_chains_forget(&tracker->cull);
}
