/*
 * totals.c: see totals.h. Readers add up the rows of a trace, so differences
 * are written. The recorder only.
 */
#include "cli/recorder/emit/totals.h"

#include <errno.h>
#include <string.h>

#include "cli/recorder/live_blocks/block_table_rounded.h"
#include "cli/recorder/recorder.h"
#include "unwind/base/assertion.h"

/* Interval of writing; it grows with the number of rows. */
#define TOTALS_REPORT_NS (1 * UINT64_C(1000000000))
#define TOTALS_REPORTED_PART 32
#define TOTALS_REPORT_EACH_NS (1 * UINT64_C(1000000))

bool totals_wanted(void)
{
	return !recording_options->number[OPTION_DEPTH];
}

int totals_init(struct totals *totals, struct recorder *rec, uint64_t bytes)
{
	totals->rec = rec;
	totals->reported.max = bytes / TOTALS_REPORTED_PART;
	return emit_totals_init(&totals->emit, &rec->out, &rec->compress,
				&rec->nodes);
}

void totals_forget(struct totals *totals)
{
	memset(totals->classes, 0, sizeof(totals->classes));
	memset(totals->lives, 0, sizeof(totals->lives));
	if (totals->reported.ready)
		memset(totals->reported.at, 0, totals->reported.ready);
	totals->blocks = totals->frees = 0;
}

static void totals_classes(struct totals *totals)
{
	const struct block_table *table = &totals->rec->tracker.table;
	uint64_t size[GT_CLASSES][GT_SIZE_VALUES];
	uint64_t lifetime[GT_CLASSES][GT_LIFETIME_VALUES];
	unsigned i;

	for (i = 0; i < GT_CLASSES; i++) {
		const struct block_table_class now =
			block_table_rounded_class(table, i);
		const struct block_table_lifetimes lives =
			block_table_rounded_lives(table, i);
		const struct block_table_class *reported = &totals->classes[i];

		DEBUG_ASSERT(now.blocks >= reported->blocks &&
			     now.frees >= reported->frees);
		size[i][GT_SIZE_ALLOCATIONS] = now.blocks - reported->blocks;
		size[i][GT_SIZE_BYTES] = now.bytes - reported->bytes;
		size[i][GT_SIZE_FREES] = now.frees - reported->frees;
		size[i][GT_SIZE_FREED_BYTES] = now.freed - reported->freed;
		size[i][GT_SIZE_TEMPORARY] =
			now.temporary - reported->temporary;
		size[i][GT_SIZE_LIFETIME] = now.lifetime - reported->lifetime;
		lifetime[i][GT_LIFETIME_BLOCKS] = lives.blocks -
						  totals->lives[i].blocks;
		lifetime[i][GT_LIFETIME_BYTES] = lives.bytes -
						 totals->lives[i].bytes;
		totals->classes[i] = now;
		totals->lives[i] = lives;
	}
	emit_totals_classes(&totals->rec->out, size, lifetime);
}

static void totals_row(struct totals *totals, uint32_t number)
{
	const struct block_table_figure now =
		block_table_rounded_figure(&totals->rec->tracker.table, number);
	struct block_table_figure *reported =
		(struct block_table_figure *)totals->reported.at + number;
	const uint64_t value[GT_TOTALS_VALUES] = {
		[GT_TOTALS_ALLOCATIONS] = now.sum.blocks - reported->sum.blocks,
		[GT_TOTALS_BYTES] = now.sum.bytes - reported->sum.bytes,
		[GT_TOTALS_FREES] = now.sum.frees - reported->sum.frees,
		[GT_TOTALS_FREED_BYTES] = now.sum.freed - reported->sum.freed,
		[GT_TOTALS_TEMPORARY] = now.temporary - reported->temporary,
		[GT_TOTALS_LIFETIME] = now.lifetime - reported->lifetime,
		[GT_TOTALS_FIRST] = now.first,
		[GT_TOTALS_LAST] = now.last,
		[GT_TOTALS_OWN_PEAK_BYTES] = now.sum.peak_bytes,
		[GT_TOTALS_OWN_PEAK_BLOCKS] = now.sum.peak_blocks,
		[GT_TOTALS_OWN_PEAK_STAMP] = now.sum.peak_tick,
	};

	DEBUG_ASSERT(now.sum.blocks >= reported->sum.blocks &&
		     now.sum.frees >= reported->sum.frees);
	emit_totals_row(&totals->emit, now.context, 0, value);
	*reported = now;
}

void totals_report(struct totals *totals)
{
	const struct block_table *table = &totals->rec->tracker.table;
	const struct block_table_sum all =
		block_table_rounded(table, &table->all);
	const uint64_t run[GT_RUN_VALUES] = {
		[GT_RUN_PEAK_BYTES] = all.peak_bytes,
		[GT_RUN_PEAK_BLOCKS] = all.peak_blocks,
		[GT_RUN_PEAK_STAMP] = all.peak_tick,
	};
	uint32_t i;

	if (table->all.blocks == totals->blocks &&
	    table->all.frees == totals->frees)
		return;
	/* without memory for the copy, the changes are written next time */
	if (!vector_reach(&totals->reported,
			  (table->figure_count + UINT64_C(1)) *
				  sizeof(struct block_table_figure)))
		return;
	totals->blocks = table->all.blocks;
	totals->frees = table->all.frees;
	totals_classes(totals);
	emit_totals_begin(&totals->emit, GT_TOTALS);
	for (i = 1; i <= table->figure_count; i++)
		totals_row(totals, i);
	emit_totals_end(&totals->emit);
	emit_totals_run(&totals->rec->out, run);
}

void totals_poll(struct totals *totals, uint64_t now_ns)
{
	if (now_ns - totals->reported_ns <
	    base_max(TOTALS_REPORT_NS, totals->rec->tracker.table.figure_count *
					     TOTALS_REPORT_EACH_NS))
		return;
	totals->reported_ns = now_ns;
	totals_report(totals);
}
