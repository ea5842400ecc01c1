/*
 * totals.c: see totals.h. Readers add up the rows of a trace, so differences
 * are written. The writer only.
 */
#include "cli/recorder/emit/totals.h"

#include <errno.h>
#include <string.h>

#include "cli/recorder/books/ledger_whole.h"
#include "cli/recorder/writer_task.h"
#include "unwind/claim.h"

/* Interval of writing; it grows with the number of rows. */
#define TOTALS_TELL_NS (1 * UINT64_C(1000000000))
#define TOTALS_TOLD_PART 32
#define TOTALS_TELL_EACH_NS (1 * UINT64_C(1000000))

bool totals_wanted(void)
{
	return !recording_options->number[OPTION_DEPTH];
}

int totals_init(struct totals *totals, struct writer *w, uint64_t bytes)
{
	totals->w = w;
	totals->told.most = bytes / TOTALS_TOLD_PART;
	return emit_totals_init(&totals->emit, &w->out, &w->compress,
				&w->nodes);
}

void totals_forget(struct totals *totals)
{
	memset(totals->classes, 0, sizeof(totals->classes));
	memset(totals->lives, 0, sizeof(totals->lives));
	if (totals->told.ready)
		memset(totals->told.at, 0, totals->told.ready);
	totals->blocks = totals->frees = 0;
}

static void totals_classes(struct totals *totals)
{
	const struct ledger *ledger = &totals->w->books.ledger;
	uint64_t size[GT_CLASSES][GT_SIZE_VALUES];
	uint64_t lifetime[GT_CLASSES][GT_LIFETIME_VALUES];
	unsigned i;

	for (i = 0; i < GT_CLASSES; i++) {
		const struct ledger_class now = ledger_whole_class(ledger, i);
		const struct ledger_lives lives = ledger_whole_lives(ledger, i);
		const struct ledger_class *told = &totals->classes[i];

		CLAIM_FULL(now.blocks >= told->blocks &&
			   now.frees >= told->frees);
		size[i][GT_SIZE_ALLOCATIONS] = now.blocks - told->blocks;
		size[i][GT_SIZE_BYTES] = now.bytes - told->bytes;
		size[i][GT_SIZE_FREES] = now.frees - told->frees;
		size[i][GT_SIZE_FREED_BYTES] = now.freed - told->freed;
		size[i][GT_SIZE_TEMPORARY] = now.temporary - told->temporary;
		size[i][GT_SIZE_LIFETIME] = now.lifetime - told->lifetime;
		lifetime[i][GT_LIFETIME_BLOCKS] = lives.blocks -
						  totals->lives[i].blocks;
		lifetime[i][GT_LIFETIME_BYTES] = lives.bytes -
						 totals->lives[i].bytes;
		totals->classes[i] = now;
		totals->lives[i] = lives;
	}
	emit_totals_classes(&totals->w->out, size, lifetime);
}

static void totals_row(struct totals *totals, uint32_t number)
{
	const struct ledger_figure now =
		ledger_whole_figure(&totals->w->books.ledger, number);
	struct ledger_figure *told =
		(struct ledger_figure *)totals->told.at + number;
	const uint64_t value[GT_TOTALS_VALUES] = {
		[GT_TOTALS_ALLOCATIONS] = now.sum.blocks - told->sum.blocks,
		[GT_TOTALS_BYTES] = now.sum.bytes - told->sum.bytes,
		[GT_TOTALS_FREES] = now.sum.frees - told->sum.frees,
		[GT_TOTALS_FREED_BYTES] = now.sum.freed - told->sum.freed,
		[GT_TOTALS_TEMPORARY] = now.temporary - told->temporary,
		[GT_TOTALS_LIFETIME] = now.lifetime - told->lifetime,
		[GT_TOTALS_FIRST] = now.first,
		[GT_TOTALS_LAST] = now.last,
		[GT_TOTALS_OWN_PEAK_BYTES] = now.sum.peak_bytes,
		[GT_TOTALS_OWN_PEAK_BLOCKS] = now.sum.peak_blocks,
		[GT_TOTALS_OWN_PEAK_STAMP] = now.sum.peak_tick,
	};

	CLAIM_FULL(now.sum.blocks >= told->sum.blocks &&
		   now.sum.frees >= told->sum.frees);
	emit_totals_row(&totals->emit, now.context, 0, value);
	*told = now;
}

void totals_tell(struct totals *totals)
{
	const struct ledger *ledger = &totals->w->books.ledger;
	const struct ledger_sum all = ledger_whole(ledger, &ledger->all);
	const uint64_t run[GT_RUN_VALUES] = {
		[GT_RUN_PEAK_BYTES] = all.peak_bytes,
		[GT_RUN_PEAK_BLOCKS] = all.peak_blocks,
		[GT_RUN_PEAK_STAMP] = all.peak_tick,
	};
	uint32_t i;

	if (ledger->all.blocks == totals->blocks &&
	    ledger->all.frees == totals->frees)
		return;
	/* without memory for the copy, the changes are written next time */
	if (!grown_reach(&totals->told, (ledger->figure_count + UINT64_C(1)) *
						  sizeof(struct ledger_figure)))
		return;
	totals->blocks = ledger->all.blocks;
	totals->frees = ledger->all.frees;
	totals_classes(totals);
	emit_totals_begin(&totals->emit, GT_TOTALS);
	for (i = 1; i <= ledger->figure_count; i++)
		totals_row(totals, i);
	emit_totals_end(&totals->emit);
	emit_totals_run(&totals->w->out, run);
}

void totals_look(struct totals *totals, uint64_t now_ns)
{
	if (now_ns - totals->told_ns <
	    base_max(TOTALS_TELL_NS, totals->w->books.ledger.figure_count *
					     TOTALS_TELL_EACH_NS))
		return;
	totals->told_ns = now_ns;
	totals_tell(totals);
}
