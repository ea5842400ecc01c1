/*
 * report_chains.c: see report_chains.h. A row is a site: that of the first
 * block. Called by the main thread.
 */
#include "cli/report/report_chains.h"

#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
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
	uint64_t most;		/* and how much that was */
};

struct chain_rows {
	struct chain_row *list;
	size_t count, capacity;
	struct table by_site;
};

static void add(struct chain_rows *rows, uint64_t site, uint32_t node,
		const struct chain_figures *figures)
{
	uint32_t i = table_get(&rows->by_site, site);
	struct chain_row *row;

	if (i == TABLE_NONE) {
		GROW(rows->list, rows->count, rows->capacity);
		i = (uint32_t)rows->count++;
		rows->list[i] = (struct chain_row){ .node = node };
		table_set(&rows->by_site, site, i);
	}
	row = &rows->list[i];
	chain_figures_add(&row->sum, figures);
	if (figures->copied_bytes > row->most) {
		row->most = figures->copied_bytes;
		row->node = node;
	}
}

static void collect(const struct report *r, struct chain_rows *rows,
		    struct chain_figures *whole)
{
	const struct contexts *contexts = model_contexts(r->model);

	for (size_t i = 0; i < contexts->cost_count; i++) {
		const struct context_cost *cost = &contexts->costs[i];
		struct chain_figures chain;
		struct figures figures;

		chains_of(model_chains(r->model), (uint32_t)i, &chain);
		if (chain.count == 0)
			continue;
		model_figures(r->model, cost, &figures);
		if (r->keep != NULL &&
		    !r->keep(r->keeper, cost->node, &figures))
			continue;
		add(rows, frames_site_key(r->frames, cost->node), cost->node,
		    &chain);
		chain_figures_add(whole, &chain);
	}
}

/* What was copied most comes first, then what took most steps. */
static int by_copied(const void *a, const void *b)
{
	const struct chain_row *x = a, *y = b;
	uint64_t left = x->sum.copied_bytes, right = y->sum.copied_bytes;

	if (left == right) {
		left = x->sum.blocks - x->sum.count;
		right = y->sum.blocks - y->sum.count;
	}
	if (left == right)
		return x->node < y->node ? -1 : x->node > y->node;
	return left > right ? -1 : 1;
}

static void put_row(struct report *r, const struct chain_row *row,
		    size_t number, uint64_t whole)
{
	const struct chain_figures *sum = &row->sum;
	uint64_t steps = sum->blocks - sum->count;
	char a[QUANTITY_TEXT], b[QUANTITY_TEXT], c[QUANTITY_TEXT];

	fprintf(r->out, "\n%4zu. %s%6s%s  %s copied in %s of ", number,
		r->style->share, quantity_percent(a, sum->copied_bytes, whole),
		r->style->off, quantity_size(b, (int64_t)sum->copied_bytes),
		quantity_count(c, sum->moves));
	fprintf(r->out, "%s step%s\n", quantity_count(a, steps),
		report_plural(steps));
	fprintf(r->out, "%*s%s%s block%s, ", INDENT, "", r->style->dim,
		quantity_count(a, sum->count), report_plural(sum->count));
	fprintf(r->out, "from %s to %s on average, in up to %s step%s%s\n",
		quantity_size(a, (int64_t)(sum->first_bytes / sum->count)),
		quantity_size(b, (int64_t)(sum->last_bytes / sum->count)),
		quantity_count(c, sum->longest - 1),
		report_plural(sum->longest - 1), r->style->off);
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
	char more[QUANTITY_TEXT];
	uint64_t top = r->options->top_given ? r->options->top : DEFAULT_ROWS;
	size_t shown;

	if (r->model == NULL || r->profile != NULL ||
	    !(model_asked(r->model)->wants & MODEL_WANT_CHAINS))
		return;
	collect(r, &rows, &whole);
	if (rows.count > 0)
		qsort(rows.list, rows.count, sizeof(*rows.list), by_copied);
	shown = top != 0 && top < rows.count ? top : rows.count;
	fprintf(r->out, "\n%sREALLOC CHAINS%s: blocks that realloc made "
		"larger or smaller, step by step;\na step that finds no "
		"room where the block is copies all of it%s\n",
		r->style->title, r->style->off, r->about.sample_mean > 0 ?
		" (only of the\nblocks that are in the sample)" : "");
	if (rows.count == 0)
		fprintf(r->out, "\n      none\n");
	for (size_t i = 0; i < shown; i++)
		put_row(r, &rows.list[i], i + 1, whole.copied_bytes);
	if (shown < rows.count)
		fprintf(r->out, "\n      and %s more site%s: --sizes --top "
			"0\n", quantity_count(more, rows.count - shown),
			report_plural(rows.count - shown));
	free(rows.list);
	table_free(&rows.by_site);
}
