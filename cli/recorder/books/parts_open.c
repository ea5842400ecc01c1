/*
 * parts_open.c: see parts_open.h. It has all earlier data that a reader needs:
 * images, threads, totals of freed blocks, and live blocks. Contexts are
 * written when first referred to, as at the start.
 *
 * Rotation waits for pending reallocs (parts.c), but not forever. For a realloc
 * still pending, the opening has the old block as live, and its begin record
 * again: its end record finds both here.
 *
 * The writer only.
 */
#include "cli/recorder/books/parts_open.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/recorder/census.h"
#include "cli/recorder/books/ledger_whole.h"
#include "cli/recorder/emit/varint.h"
#include "cli/recorder/base/message_out.h"
#include "cli/recorder/writer_task.h"
#include "unwind/claim.h"

#define PARTS_BLOCK 10		/* approximate bytes of a live block */
#define PARTS_NOBODY UINT32_MAX	/* ring of an unknown thread */

/* ---- threads, images, controls ---- */

static void parts_threads(struct feed *feed)
{
	uint32_t count = feed_count(feed), id;

	feed->numbers = 0;
	for (id = 0; id < count; id++) {
		struct feed_ring *own = &feed->rings[id];

		if (!feed_active(&feed->r->rings[id]) || !own->known)
			continue;
		if (!recording_is_nested(feed->r, id))
			own->number = ++feed->numbers;
		census_record(feed, GT_THREAD_START, id,
			      feed->r->given[id].start_stamp);
	}
	CLAIM_FULL(feed->numbers <= feed->serials);
	feed->serials_before = feed->serials;
	feed->numbers_before = feed->numbers;
}

static void parts_images(struct emit_image *images)
{
	memset(images->state, 0, sizeof(images->state));
	images->complete = 0;
	emit_image_flush_gone(images);
}

/* Repeats earlier control records that still apply. */
static void parts_control(struct writer *w)
{
	if (w->control.begin_tick)
		control_emit(w, GT_CONTROL_START, w->control.begin_tick, 0,
			     "");
	if (w->control.clear_tick)
		control_emit(w, GT_CONTROL_CLEAR, w->control.clear_tick, 0,
			     "");
	if (w->control.off)
		control_emit(w, GT_CONTROL_STOP, w->control.end_tick, 0, "");
	w->heaps.told = 0;
	emit_heap_flush(&w->heaps);
	w->feed.told_partial = false;
}

/* ---- totals ---- */

static void parts_run(struct parts *parts)
{
	const struct ledger *ledger = &parts->w->books.ledger;
	const struct ledger_sum all = ledger_whole(ledger, &ledger->all);
	const uint64_t run[GT_RUN_VALUES] = {
		[GT_RUN_PEAK_BYTES] = all.peak_bytes,
		[GT_RUN_PEAK_BLOCKS] = all.peak_blocks,
		[GT_RUN_PEAK_STAMP] = all.peak_tick,
		[GT_RUN_LIFETIME_NS] = recording_options->number[OPTION_CULL],
	};

	emit_totals_run(&parts->w->out, run);
}

static void parts_classes(struct parts *parts)
{
	uint64_t size[GT_CLASSES][GT_SIZE_VALUES] = { 0 };
	uint64_t lifetime[GT_CLASSES][GT_LIFETIME_VALUES] = { 0 };
	const struct ledger *ledger = &parts->w->books.ledger;
	unsigned i;

	for (i = 0; i < GT_CLASSES; i++) {
		const struct ledger_class class = ledger_whole_class(ledger, i);
		const struct ledger_lives lives = ledger_whole_lives(ledger, i);

		size[i][GT_SIZE_ALLOCATIONS] = class.frees;
		size[i][GT_SIZE_BYTES] = class.freed;
		size[i][GT_SIZE_FREES] = class.frees;
		size[i][GT_SIZE_FREED_BYTES] = class.freed;
		size[i][GT_SIZE_TEMPORARY] = class.temporary;
		size[i][GT_SIZE_LIFETIME] = class.lifetime;
		lifetime[i][GT_LIFETIME_BLOCKS] = lives.blocks;
		lifetime[i][GT_LIFETIME_BYTES] = lives.bytes;
	}
	emit_totals_classes(&parts->w->out, size, lifetime);
}

/* with_live: live blocks are not listed, so totals include them. */
static void parts_rows(struct parts *parts, bool with_live)
{
	const struct ledger *ledger = &parts->w->books.ledger;
	uint32_t i;

	emit_totals_begin(&parts->emit, GT_TOTALS);
	for (i = 1; i <= ledger->figure_count; i++) {
		const struct ledger_figure figure =
			ledger_whole_figure(ledger, i);
		const struct ledger_sum *sum = &figure.sum;
		const uint64_t value[GT_TOTALS_VALUES] = {
			[GT_TOTALS_ALLOCATIONS] = with_live ? sum->blocks :
							      sum->frees,
			[GT_TOTALS_BYTES] = with_live ? sum->bytes :
							sum->freed,
			[GT_TOTALS_FREES] = sum->frees,
			[GT_TOTALS_FREED_BYTES] = sum->freed,
			[GT_TOTALS_TEMPORARY] = figure.temporary,
			[GT_TOTALS_LIFETIME] = figure.lifetime,
			[GT_TOTALS_FIRST] = figure.first,
			[GT_TOTALS_LAST] = figure.last,
			[GT_TOTALS_OWN_PEAK_BYTES] = sum->peak_bytes,
			[GT_TOTALS_OWN_PEAK_BLOCKS] = sum->peak_blocks,
			[GT_TOTALS_OWN_PEAK_STAMP] = sum->peak_tick,
		};

		if (sum->blocks)
			emit_totals_row(&parts->emit, figure.context, 0,
					value);
	}
}

/* ---- live blocks ---- */

/* Columns of a LIVE chunk under construction, and the values that its deltas
 * are relative to. */
struct parts_live {
	uint8_t *start[PARTS_LIVE_COLUMNS], *end[PARTS_LIVE_COLUMNS];
	struct compress_past past[PARTS_LIVE_COLUMNS];
	uint64_t address, tick;
	uint32_t context, count;
};

static void parts_live_begin(struct parts *parts, struct parts_live *live)
{
	unsigned i;

	for (i = 0; i < PARTS_LIVE_COLUMNS; i++)
		live->start[i] = live->end[i] =
			parts->columns + i * PARTS_COLUMN;
	live->address = live->tick = 0;
	live->context = live->count = 0;
}

static void parts_live_end(struct parts *parts, struct parts_live *live)
{
	struct writer *w = parts->w;
	uint8_t *to;
	unsigned i;

	if (!live->count)
		return;
	CLAIM_FULL(live->count <= PARTS_LIVE);
	emit_node_flush(&w->nodes);
	to = varint_put(chunk_payload(&w->out), live->count);
	for (i = 0; i < PARTS_LIVE_COLUMNS; i++)
		to = compress_column(&w->compress, &live->past[i], to,
				     live->start[i],
				     live->end[i] - live->start[i]);
	chunk_write(&w->out, GT_LIVE, to, NULL);
	parts_live_begin(parts, live);
}

/* The ring of the thread, if it still has one. */
static uint32_t parts_ring(const struct feed *feed,
			   const struct ledger_thread *thread)
{
	const struct feed_ring *own = &feed->rings[thread->ring];

	CLAIM_FULL(thread->ring < GL_RINGS_MAX);
	return own->known && own->serial == thread->serial ? thread->ring :
							     PARTS_NOBODY;
}

static void parts_live_put(struct parts *parts, struct parts_live *live,
			   const struct block *block)
{
	struct writer *w = parts->w;
	const struct ledger *ledger = &w->books.ledger;
	uint32_t context = emit_node_refer(&w->nodes,
					   ledger_context_of(ledger, block));
	uint64_t step = varint_zigzag((block->address >> 4) - live->address);
	uint8_t **end = live->end;

	CLAIM_FULL(live->count < PARTS_LIVE);
	end[0] = varint_put(end[0], step << 1 | ((block->address & 15) != 0));
	if (block->address & 15)
		*end[0]++ = block->address & 15;
	end[1] = varint_put(end[1], varint_zigzag((int64_t)context -
						  live->context));
	end[2] = varint_put(end[2], block->size);
	end[3] = varint_put(end[3], varint_zigzag(block->birth - live->tick));
	end[4] = varint_put(end[4], parts_ring(&w->feed,
					       ledger_thread_of(ledger, block)));
	CLAIM_FULL(end[0] <= live->start[0] + PARTS_COLUMN);
	live->address = block->address >> 4;
	live->context = context;
	live->tick = block->birth;
	if (++live->count == PARTS_LIVE)
		parts_live_end(parts, live);
}

static void parts_live(struct parts *parts)
{
	const struct ledger *ledger = &parts->w->books.ledger;
	struct parts_live live;
	const struct block *block;
	uint32_t number = 0;

	memset(&live, 0, sizeof(live));
	parts_live_begin(parts, &live);
	while ((block = blocks_next(&ledger->edges.blocks, &number)))
		parts_live_put(parts, &live, block);
	parts_live_end(parts, &live);
}

/* Writes the begin of a pending realloc: it is the last event of its ring. */
static void parts_moving(struct feed *feed, uint32_t id,
			 const struct edges_moving *moving)
{
	uint64_t at = feed->r->given[id].tail;
	uint64_t stamp = feed->rings[id].last_tick << (GL_KIND_BITS +
						       feed->tick_shift);
	order_word record[3];

	order_word_put(&record[0], stamp | GT_REALLOC_BEGIN |
					   (moving->by ? GL_KIND_STACK : 0));
	order_word_put(&record[1], moving->address);
	order_word_put(&record[2], moving->by);
	feed_records(feed, id, record, record + (moving->by ? 3 : 2), at, at);
}

static void parts_movings(struct parts *parts)
{
	struct edges *edges = &parts->w->books.ledger.edges;
	struct feed *feed = &parts->w->feed;
	uint32_t count = feed_count(feed), id;

	for (id = 0; id < count; id++) {
		const struct edges_moving *moving = edges_moving_of(edges, id);

		/* if its block was released already, there is nothing to end */
		if (moving->active && !moving->released &&
		    feed_active(&feed->r->rings[id]) && feed->rings[id].known)
			parts_moving(feed, id, moving);
	}
}

/* Whether there is room for all live blocks; if not, only their totals are
 * written. */
static bool parts_lives(struct parts *parts)
{
	uint64_t live = parts->w->books.ledger.edges.blocks.count;
	char message[256];

	if (live * PARTS_BLOCK <= parts->limit / 4)
		return true;
	if (parts->told_live)
		return false;
	parts->told_live = true;
	snprintf(message, sizeof(message),
		 "--limit is too small to list %" PRIu64 " live blocks: from "
		 "now on, parts of the trace have only their totals", live);
	message_out_say(target_task(&parts->w->target), message);
	return false;
}

static void parts_books(struct parts *parts)
{
	bool lives = parts_lives(parts);

	if (!lives)
		emit_info_partial(parts->w->info.out,
				  parts->w->books.ledger.edges.blocks.count);
	parts_run(parts);
	parts_classes(parts);
	parts_rows(parts, !lives);
	emit_totals_end(&parts->emit);
	if (lives)
		parts_live(parts);
	parts_movings(parts);
}

void parts_write_opening(struct parts *parts)
{
	struct writer *w = parts->w;

	emit_info_start(&w->info);
	feed_clocks(&w->feed);
	parts_control(w);
	emit_node_forget(&w->nodes);
	parts_images(&w->images);
	parts_threads(&w->feed);
	parts_books(parts);
	maps_watch_again(&w->maps);
	emit_names_again(&w->names);
}

void parts_say_small(struct parts *parts)
{
	snprintf(parts->w->r->message, sizeof(parts->w->r->message),
		 "--limit is too small: the data at the start of each part "
		 "takes %" PRIu64 "K, more than half of it: recording has "
		 "stopped", parts->opening >> 10);
	message_out_say(target_task(&parts->w->target), parts->w->r->message);
	atomic_store_explicit(&parts->w->r->shared->stop, 1,
			      memory_order_release);
}
