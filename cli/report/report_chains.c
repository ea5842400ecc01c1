/*
 * report_chains.c: see report.h. A row is the site of a chain's first block.
 * Called by the main thread.
 */
#include "cli/report/report.h"

#include <stdlib.h>

#include "cli/base/grow.h"
#include "cli/base/sort.h"
#include "cli/base/table.h"
#include "cli/base/text/quantity.h"
#include "cli/model/core/chains.h"
#include "cli/model/core/contexts.h"
#include "cli/model/model.h"

#define DEFAULT_ROWS 5
#define FRAMES 6		/* lines of a stack */
#define INDENT 9

struct chain_row {
	struct chain_figures sum;
	uint32_t node;		/* of the stack that copied most */
	uint64_t copied_bytes;	/* bytes that this stack copied */
};

struct chain_rows {
	struct chain_row *list;
	size_t count, capacity;
	struct table by_site;
};

static void add(struct chain_rows *rows, uint64_t site, uint32_t node,
		const struct chain_figures *figures)
{
	uint32_t i = table_number(&rows->by_site, site, rows->count);
	struct chain_row *row;

	if (i == rows->count) {
		GROW(rows->list, rows->count, rows->capacity);
		rows->list[rows->count++] = (struct chain_row){ .node = node };
	}
	row = &rows->list[i];
	chain_figures_add(&row->sum, figures);
	if (figures->copied_bytes > row->copied_bytes) {
		row->copied_bytes = figures->copied_bytes;
		row->node = node;
	}
}

static void collect(const struct report *r, struct chain_rows *rows,
		    struct chain_figures *whole)
{
	const struct contexts *contexts = model_contexts(r->model);

	for (size_t i = 0; i < contexts->cost_count; i++) {
		uint32_t node = contexts->costs[i].node;
		struct chain_figures chain;
		struct figures figures;

		chains_of(model_chains(r->model), (uint32_t)i, &chain);
		if (chain.count == 0 || !report_keeps(r, i, &figures))
			continue;
		add(rows, frames_site_key(r->frames, node), node, &chain);
		chain_figures_add(whole, &chain);
	}
}

/* Most bytes copied first, then most steps. */
static int by_copied(const void *a, const void *b)
{
	const struct chain_row *x = a, *y = b;

	return sort_down(x->sum.copied_bytes, y->sum.copied_bytes) ?:
	       sort_down(x->sum.blocks - x->sum.count,
			 y->sum.blocks - y->sum.count) ?:
	       sort_up(x->node, y->node);
}

static void put_row(struct report *r, const struct chain_row *row,
		    size_t number, uint64_t whole)
{
	const struct chain_figures *sum = &row->sum;
	uint64_t steps = sum->blocks - sum->count;

	fprintf(r->out, "\n%4zu. %s%6s%s  %s copied in %s of ", number,
		r->style->share, PERCENT_TEXT(sum->copied_bytes, whole),
		r->style->off, SIZE_TEXT(sum->copied_bytes),
		COUNT_TEXT(sum->moves));
	fprintf(r->out, "%s\n", COUNTED(steps, "step"));
	fprintf(r->out, "%*s%s%s, ", INDENT, "", r->style->dim,
		COUNTED(sum->count, "block"));
	fprintf(r->out, "from %s to %s on average, in up to %s%s\n",
		SIZE_TEXT(sum->first_bytes / sum->count),
		SIZE_TEXT(sum->last_bytes / sum->count),
		COUNTED(sum->longest - 1, "step"), r->style->off);
	report_load(r, row->node);
	if (r->stack.count == 0)
		fprintf(r->out, "%*s[no stack]\n", INDENT, "");
	report_stack(r, r->stack.count > 0 ? r->stack.site : 0, FRAMES,
		     INDENT);
}

void report_chains_text(struct report *r)
{
	struct chain_figures whole = { 0 };
	struct chain_rows rows = { 0 };
	size_t shown;

	if (r->model == NULL || r->profile != NULL ||
	    !(r->options->query->wants & MODEL_WANT_CHAINS))
		return;
	collect(r, &rows, &whole);
	SORT(rows.list, rows.count, by_copied);
	shown = report_shown(r, rows.count, DEFAULT_ROWS);
	fprintf(r->out, "\n%sREALLOC CHAINS%s: blocks that realloc resized "
		"step by step;\na step without room to grow in place copies "
		"the whole block%s\n",
		r->style->title, r->style->off,
		r->about.coverage.sample_mean > 0 ?
		" (only\nblocks in the sample)" : "");
	if (rows.count == 0)
		fprintf(r->out, "\n      none\n");
	for (size_t i = 0; i < shown; i++)
		put_row(r, &rows.list[i], i + 1, whole.copied_bytes);
	if (shown < rows.count)
		fprintf(r->out, "\n      and %s: --sizes --top 0\n",
			COUNTED(rows.count - shown, "more site"));
	free(rows.list);
	table_free(&rows.by_site);
}
