/*
 * books.c: see books.h. The writer only.
 */
#include "cli/recorder/books/books.h"

#include <assert.h>
#include <errno.h>
#include <sched.h>
#include <string.h>

#include "cli/recorder/base/counter.h"
#include "cli/recorder/books/ledger_answer.h"
#include "cli/recorder/emit/emit_rest.h"
#include "library/gnomon/gnomon.h"
#include "cli/recorder/base/time_ns.h"
#include "cli/recorder/writer_task.h"
#include "unwind/claim.h"

/* Memory budget: a multiple of --memory, plus a minimum. Hardly any program
 * needs much of it. */
#define BOOKS_MEMORIES 8
#define BOOKS_LEAST (UINT64_C(32) << 20)
#define BOOKS_PATIENCE_NS UINT64_C(3000000)	/* longest wait for a thread in
						 * a hook, */
#define BOOKS_EMULATED_NS UINT64_C(300000000)	/* and for an emulated one,
						 * whose code is translated
						 * first */

/* Features that the options request. */
static uint32_t books_options(void)
{
	const uint64_t *number = recording_options->number;
	uint32_t wants = 0;

	if (totals_wanted())
		wants |= LEDGER_TOTALS;	/* no event is written anyway */
	else if (number[OPTION_CULL])
		wants |= LEDGER_CULL;
	if (number[OPTION_LIMIT])
		wants |= LEDGER_PARTS;
	if (number[OPTION_STATS_EVERY])
		wants |= LEDGER_STATS;
	return wants;
}

/* A program may request the live heap only. The other features change the
 * trace's files, so only options request them. */
static uint32_t books_wanted(const struct writer *w)
{
	return w->books.own |
	       (atomic_load_explicit(&w->r->shared->ledger_wants,
				     memory_order_relaxed) & LEDGER_LIVE);
}

/* Adds threads that started before the live heap was opened. */
static void books_threads(struct feed *feed)
{
	uint32_t count = feed_count(feed), id;

	for (id = 0; id < count; id++) {
		if (!feed_active(&feed->r->rings[id]) ||
		    !feed->rings[id].known)
			continue;
		feed->rings[id].taken = feed->rings[id].head =
			feed->r->given[id].tail;
		sequence_thread(feed, id);
	}
}

static int books_cull(struct writer *w, uint64_t bytes)
{
	struct books *books = &w->books;

	books->cull.age_ns = recording_options->number[OPTION_CULL];
	books->cull.most = recording_options->number[OPTION_CULL_PENDING];
	books->sequence.cull = &books->cull;
	return cull_init(&books->cull, &w->feed, &books->ledger, bytes);
}

/* Measures the length of a tick, more precisely each time. */
static void books_measure(struct writer *w, uint64_t now_ns)
{
	const struct gl_header *live = &w->live.shape;
	uint64_t ticks = (counter_now() - live->counter0) >> live->tick_shift;
	uint64_t ns = now_ns - live->monotonic0_ns;

	w->books.ledger.tick_ps = ticks ? base_max(ns * 1000 / ticks, 1) :
					  1000;
}

static int books_open(struct writer *w, uint32_t wants)
{
	const struct gl_header *live = &w->live.shape;
	struct books *books = &w->books;
	uint64_t bytes = recording_options->number[OPTION_MEMORY] *
			 BOOKS_MEMORIES + BOOKS_LEAST;
	int err;

	assert(!books->open && w->feed.sequence == NULL);
	err = ledger_init(&books->ledger, bytes, w->live.nodes_max,
			  live->window_ticks,
			  recording_options->number[OPTION_SAMPLE]);
	/* a forked child frees blocks of its parent */
	books->ledger.edges.gap = w->r->forked ||
		recording_options->number[OPTION_SAMPLE];
	books_measure(w, time_ns_now());
	if (!err)
		err = sequence_init(&books->sequence, &books->ledger);
	if (!err && wants & LEDGER_CULL)
		err = books_cull(w, bytes);
	if (!err && wants & LEDGER_TOTALS)
		err = totals_init(&books->totals, w, bytes);
	if (!err && wants & LEDGER_PARTS)
		err = parts_init(&books->parts, w);
	if (!err && wants & LEDGER_STATS)
		err = stats_init(&books->stats, w);
	if (err)
		return err;
	if (wants & LEDGER_PARTS)
		books->sequence.parts = &books->parts;
	books->sequence.no_events = wants & LEDGER_TOTALS;
	books->sequence.control = &w->control;
	w->feed.sequence = &books->sequence;
	books_threads(&w->feed);
	books->open = true;
	return 0;
}

static void books_give_up(struct writer *w)
{
	w->books.failed = true;
	w->feed.sequence = NULL;
}

/* From the first event on, as the target may be far ahead of the recorder. */
int books_begin(struct writer *w)
{
	uint32_t options = books_options();
	int err;

	w->books.own = options;
	w->books.wants = books_wanted(w);
	if (!w->books.wants)
		return 0;
	err = books_open(w, w->books.wants);
	if (err && !options) {
		/* only the program requested it: go on without it */
		books_give_up(w);
		return 0;
	}
	return err;
}

void books_look(struct writer *w, uint64_t now_ns)
{
	uint32_t wants = books_wanted(w);
	struct books *books = &w->books;

	if (likely(!wants))
		return;
	books->wants = wants;
	if (!books->open && !books->failed) {
		/* events still in the rings come from before */
		feed_all(&w->feed);
		if (books_open(w, wants))
			books_give_up(w);
		/* older blocks are unknown */
		books->ledger.edges.gap = true;
	}
	if (!books->open)
		return;
	CLAIM_FULL(w->feed.sequence == &books->sequence);
	books_measure(w, now_ns);
	if (unlikely(atomic_load_explicit(&w->r->shared->partial,
					  memory_order_relaxed)))
		books->ledger.edges.gap = true;
	if (books->sequence.no_events)
		totals_look(&books->totals, now_ns);
	if (books->sequence.cull)
		cull_look(&books->cull, now_ns);
	if (books->sequence.parts)
		parts_look(&books->parts);
	if (books->stats.every_ns)
		stats_look(&books->stats, now_ns);
}

void books_finish(struct writer *w)
{
	struct books *books = &w->books;

	if (!books->open)
		return;
	if (books->sequence.cull && books->cull.totals.count)
		cull_tell(&books->cull);
	if (books->sequence.no_events)
		totals_tell(&books->totals);
	if (books->stats.every_ns)
		stats_finish(&books->stats);
}

/*
 * Takes all records from before this call. A thread with the turn (ring.h) may
 * reuse an old stamp, so the turn is withdrawn. A thread in a hook may hold an
 * old stamp, so it is waited for, unless it made the request.
 */
static void books_catch_up(struct writer *w, bool nested)
{
	uint64_t most_ns = w->r->emulated ? BOOKS_EMULATED_NS :
					    BOOKS_PATIENCE_NS;
	uint64_t now_ns = time_ns_now(), until;

	atomic_store_explicit(&w->r->shared->turn, 0, memory_order_seq_cst);
	until = counter_now() >> w->feed.tick_shift;
	while (feed_all(&w->feed) < until && !nested &&
	       time_ns_now() - now_ns < most_ns)
		sched_yield();
}

int books_settle(struct writer *w, bool nested)
{
	books_look(w, time_ns_now());
	if (!w->books.open)
		return -ENOMEM;
	books_catch_up(w, nested);
	return 0;
}

static void books_rest(const struct recording *r, struct gnomon_sizes *sizes)
{
	uint64_t rest[GT_CLASSES][GT_REST_VALUES];
	unsigned i;

	emit_rest_sum(r, rest);
	for (i = 0; i < GT_CLASSES; i++)
		sizes->rest[base_min(i, GNOMON_CLASSES - 1)] +=
			rest[i][GT_REST_ALLOCATIONS];
}

/* Converts an answer, which consists of 64-bit words, to the target's byte
 * order. */
static void books_put(struct gl_request *request)
{
	order_word *to = (order_word *)request->data;
	uint32_t i;

	for (i = 0; i < request->bytes / sizeof(*to); i++)
		order_word_put(&to[i], ((uint64_t *)request->data)[i]);
}

long books_answer(struct writer *w, struct gl_request *request)
{
	int err = books_settle(w, request->arg[1]);

	CLAIM_FULL(request->bytes <= GL_REQUEST_ROOM);
	memset(request->data, 0, request->bytes);
	if (!err)
		err = ledger_answer(&w->books.ledger, request->number,
				    request->arg[0], request->data,
				    request->bytes);
	if (err != -EINVAL && request->number == LEDGER_ASK_CLASSES)
		books_rest(w->r, (struct gnomon_sizes *)request->data);
	books_put(request);
	return err;
}

void books_begin_anew(struct writer *w, uint64_t tick, bool unseen)
{
	struct books *books = &w->books;

	if (!books->open)
		return;
	feed_until(&w->feed, tick);
	if (books->sequence.no_events) {
		totals_tell(&books->totals);
		totals_forget(&books->totals);
	}
	if (books->sequence.cull) {
		cull_flush(&books->cull);
		if (books->cull.totals.count)
			cull_tell(&books->cull);
	}
	if (unseen)
		ledger_forget(&books->ledger, tick);
	else
		ledger_clear(&books->ledger, tick);
	if (books->sequence.cull)
		cull_chains_forget(&books->cull);
}
