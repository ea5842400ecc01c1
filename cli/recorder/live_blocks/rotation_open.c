/*
 * rotation_open.c: see rotation_open.h. It has all earlier data that a reader
 * needs: images, threads, totals of freed blocks, and live blocks. Contexts are
 * written when first referred to, as at the start.
 *
 * Rotation waits for pending reallocs (rotation.c), but not forever. For a
 * realloc still pending, the opening has the old block as live, and its begin
 * record again: its end record finds both here.
 *
 * The recorder only.
 */
#include "cli/recorder/live_blocks/rotation_open.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/recorder/thread_list.h"
#include "cli/recorder/live_blocks/block_table_rounded.h"
#include "cli/recorder/emit/varint.h"
#include "cli/recorder/base/message_out.h"
#include "cli/recorder/recorder.h"
#include "unwind/base/assertion.h"

#define ROTATION_BLOCK 10		/* approximate bytes of a live block */
#define ROTATION_NOBODY UINT32_MAX	/* ring of an unknown thread */

/* ---- threads, images, controls ---- */

static void rotation_threads(struct ring_drain *drain)
{
	uint32_t count = drain_count(drain), id;

	drain->numbers = 0;
	for (id = 0; id < count; id++) {
		struct drain_source *own = &drain->rings[id];

		if (!drain_active(&drain->r->rings[id]) || !own->known)
			continue;
		if (!recording_is_nested(drain->r, id))
			own->number = ++drain->numbers;
		thread_list_record(drain, GT_THREAD_START, id,
				   drain->r->given[id].start_stamp);
	}
	DEBUG_ASSERT(drain->numbers <= drain->serials);
	drain->serials_before = drain->serials;
	drain->numbers_before = drain->numbers;
}

static void rotation_images(struct emit_image *images)
{
	memset(images->state, 0, sizeof(images->state));
	images->complete = 0;
	emit_image_flush_gone(images);
}

/* Repeats earlier control records that still apply. */
static void rotation_control(struct recorder *rec)
{
	if (rec->control.begin_tick)
		control_emit(rec, GT_CONTROL_START, rec->control.begin_tick, 0,
			     "");
	if (rec->control.clear_tick)
		control_emit(rec, GT_CONTROL_CLEAR, rec->control.clear_tick, 0,
			     "");
	if (rec->control.off)
		control_emit(rec, GT_CONTROL_STOP, rec->control.end_tick, 0,
			     "");
	rec->heaps.reported = 0;
	emit_heap_flush(&rec->heaps);
	rec->drain.reported_partial = false;
}

/* ---- totals ---- */

static void rotation_run(struct rotation *rotation)
{
	const struct block_table *table = &rotation->rec->tracker.table;
	const struct block_table_sum all =
		block_table_rounded(table, &table->all);
	const uint64_t run[GT_RUN_VALUES] = {
		[GT_RUN_PEAK_BYTES] = all.peak_bytes,
		[GT_RUN_PEAK_BLOCKS] = all.peak_blocks,
		[GT_RUN_PEAK_STAMP] = all.peak_tick,
		[GT_RUN_LIFETIME_NS] = recording_options->number[OPTION_CULL],
	};

	emit_totals_run(&rotation->rec->out, run);
}

static void rotation_classes(struct rotation *rotation)
{
	uint64_t size[GT_CLASSES][GT_SIZE_VALUES] = { 0 };
	uint64_t lifetime[GT_CLASSES][GT_LIFETIME_VALUES] = { 0 };
	const struct block_table *table = &rotation->rec->tracker.table;
	unsigned i;

	for (i = 0; i < GT_CLASSES; i++) {
		const struct block_table_class class =
			block_table_rounded_class(table, i);
		const struct block_table_lifetimes lives =
			block_table_rounded_lives(table, i);

		size[i][GT_SIZE_ALLOCATIONS] = class.frees;
		size[i][GT_SIZE_BYTES] = class.freed;
		size[i][GT_SIZE_FREES] = class.frees;
		size[i][GT_SIZE_FREED_BYTES] = class.freed;
		size[i][GT_SIZE_TEMPORARY] = class.temporary;
		size[i][GT_SIZE_LIFETIME] = class.lifetime;
		lifetime[i][GT_LIFETIME_BLOCKS] = lives.blocks;
		lifetime[i][GT_LIFETIME_BYTES] = lives.bytes;
	}
	emit_totals_classes(&rotation->rec->out, size, lifetime);
}

/* with_live: live blocks are not listed, so totals include them. */
static void rotation_rows(struct rotation *rotation, bool with_live)
{
	const struct block_table *table = &rotation->rec->tracker.table;
	uint32_t i;

	emit_totals_begin(&rotation->emit, GT_TOTALS);
	for (i = 1; i <= table->figure_count; i++) {
		const struct block_table_figure figure =
			block_table_rounded_figure(table, i);
		const struct block_table_sum *sum = &figure.sum;
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
			emit_totals_row(&rotation->emit, figure.context, 0,
					value);
	}
}

/* ---- live blocks ---- */

/* Columns of a LIVE chunk under construction, and the values that its deltas
 * are relative to. */
struct rotation_live {
	uint8_t *start[ROTATION_LIVE_COLUMNS], *end[ROTATION_LIVE_COLUMNS];
	struct compress_past past[ROTATION_LIVE_COLUMNS];
	uint64_t address, tick;
	uint32_t context, count;
};

static void rotation_live_begin(struct rotation *rotation,
				struct rotation_live *live)
{
	unsigned i;

	for (i = 0; i < ROTATION_LIVE_COLUMNS; i++)
		live->start[i] = live->end[i] =
			rotation->columns + i * ROTATION_COLUMN;
	live->address = live->tick = 0;
	live->context = live->count = 0;
}

static void rotation_live_end(struct rotation *rotation,
			      struct rotation_live *live)
{
	struct recorder *rec = rotation->rec;
	uint8_t *to;
	unsigned i;

	if (!live->count)
		return;
	DEBUG_ASSERT(live->count <= ROTATION_LIVE);
	emit_node_flush(&rec->nodes);
	to = varint_put(chunk_payload(&rec->out), live->count);
	for (i = 0; i < ROTATION_LIVE_COLUMNS; i++)
		to = compress_column(&rec->compress, &live->past[i], to,
				     live->start[i],
				     live->end[i] - live->start[i]);
	chunk_write(&rec->out, GT_LIVE, to, NULL);
	rotation_live_begin(rotation, live);
}

/* The ring of the thread, if it still has one. */
static uint32_t rotation_ring(const struct ring_drain *drain,
			      const struct block_table_thread *thread)
{
	const struct drain_source *own = &drain->rings[thread->ring];

	DEBUG_ASSERT(thread->ring < GL_RINGS_MAX);
	return own->known && own->serial == thread->serial ? thread->ring :
							     ROTATION_NOBODY;
}

static void rotation_live_put(struct rotation *rotation,
			      struct rotation_live *live,
			      const struct block *block)
{
	struct recorder *rec = rotation->rec;
	const struct block_table *table = &rec->tracker.table;
	uint32_t context = emit_node_refer(
		&rec->nodes, block_table_context_of(table, block));
	uint64_t step = varint_zigzag((block->address >> 4) - live->address);
	uint8_t **end = live->end;

	DEBUG_ASSERT(live->count < ROTATION_LIVE);
	end[0] = varint_put(end[0], step << 1 | ((block->address & 15) != 0));
	if (block->address & 15)
		*end[0]++ = block->address & 15;
	end[1] = varint_put(end[1], varint_zigzag((int64_t)context -
						  live->context));
	end[2] = varint_put(end[2], block->size);
	end[3] = varint_put(end[3], varint_zigzag(block->alloc - live->tick));
	end[4] = varint_put(end[4],
			    rotation_ring(&rec->drain,
					  block_table_thread_of(table, block)));
	DEBUG_ASSERT(end[0] <= live->start[0] + ROTATION_COLUMN);
	live->address = block->address >> 4;
	live->context = context;
	live->tick = block->alloc;
	if (++live->count == ROTATION_LIVE)
		rotation_live_end(rotation, live);
}

static void rotation_live(struct rotation *rotation)
{
	const struct block_table *table = &rotation->rec->tracker.table;
	struct rotation_live live;
	const struct block *block;
	uint32_t number = 0;

	memset(&live, 0, sizeof(live));
	rotation_live_begin(rotation, &live);
	while ((block = blocks_next(&table->edges.blocks, &number)))
		rotation_live_put(rotation, &live, block);
	rotation_live_end(rotation, &live);
}

/* Writes the begin of a pending realloc: it is the last event of its ring. */
static void rotation_realloc(struct ring_drain *drain, uint32_t id,
			     const struct edges_pending *pending)
{
	uint64_t at = drain->r->given[id].tail;
	uint64_t stamp = drain->rings[id].last_tick << (GL_KIND_BITS +
							drain->tick_shift);
	order_word record[3];

	order_word_put(&record[0], stamp | GT_REALLOC_BEGIN |
					   (pending->by ? GL_KIND_STACK : 0));
	order_word_put(&record[1], pending->address);
	order_word_put(&record[2], pending->by);
	drain_records(drain, id, record, record + (pending->by ? 3 : 2), at,
		      at);
}

static void rotation_reallocs(struct rotation *rotation)
{
	struct edges *edges = &rotation->rec->tracker.table.edges;
	struct ring_drain *drain = &rotation->rec->drain;
	uint32_t count = drain_count(drain), id;

	for (id = 0; id < count; id++) {
		const struct edges_pending *pending =
			edges_pending_of(edges, id);

		/* if its block was released already, there is nothing to end */
		if (pending->active && !pending->released &&
		    drain_active(&drain->r->rings[id]) &&
		    drain->rings[id].known)
			rotation_realloc(drain, id, pending);
	}
}

/* Whether there is room for all live blocks; if not, only their totals are
 * written. */
static bool rotation_lives(struct rotation *rotation)
{
	uint64_t live = rotation->rec->tracker.table.edges.blocks.count;
	char message[256];

	if (live * ROTATION_BLOCK <= rotation->limit / 4)
		return true;
	if (rotation->reported_live)
		return false;
	rotation->reported_live = true;
	snprintf(message, sizeof(message),
		 "--limit is too small to list %" PRIu64 " live blocks: from "
		 "now on, parts of the trace have only their totals", live);
	message_out_print(target_task(&rotation->rec->target), message);
	return false;
}

static void rotation_tracker(struct rotation *rotation)
{
	bool lives = rotation_lives(rotation);

	if (!lives)
		emit_info_partial(
			rotation->rec->info.out,
			rotation->rec->tracker.table.edges.blocks.count);
	rotation_run(rotation);
	rotation_classes(rotation);
	rotation_rows(rotation, !lives);
	emit_totals_end(&rotation->emit);
	if (lives)
		rotation_live(rotation);
	rotation_reallocs(rotation);
}

void rotation_write_opening(struct rotation *rotation)
{
	struct recorder *rec = rotation->rec;

	emit_info_start(&rec->info);
	drain_clocks(&rec->drain);
	rotation_control(rec);
	emit_node_forget(&rec->nodes);
	rotation_images(&rec->images);
	rotation_threads(&rec->drain);
	rotation_tracker(rotation);
	maps_watch_again(&rec->maps);
	emit_names_again(&rec->names);
}

void rotation_report_small(struct rotation *rotation)
{
	snprintf(rotation->rec->r->message, sizeof(rotation->rec->r->message),
		 "--limit is too small: the data at the start of each part "
		 "takes %" PRIu64 "K, more than half of it: recording has "
		 "stopped", rotation->opening >> 10);
	message_out_print(target_task(&rotation->rec->target),
			  rotation->rec->r->message);
	atomic_store_explicit(&rotation->rec->r->shared->stop, 1,
			      memory_order_release);
}
