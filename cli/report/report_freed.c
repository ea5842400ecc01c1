/*
 * report_freed.c: see report_freed.h. What filters of stacks keep are stacks
 * that allocated: then it takes the pairs to know who freed their blocks.
 *
 * Called by the main thread.
 */
#include "cli/report/report_freed.h"

#include <inttypes.h>
#include <stdlib.h>

#include "cli/base/grow.h"
#include "cli/base/text/quantity.h"
#include "cli/model/core/contexts.h"
#include "cli/model/stats/freed.h"
#include "cli/query/rows.h"
#include "cli/trace/read/clock.h"

#define DEFAULT_ROWS 5
#define DEFAULT_JSON_ROWS 1000
#define ROW_STACKS 32		/* told of one row */
#define FRAMES 6		/* lines of a stack */
#define INDENT 9
#define PART_MIN 20		/* …th of a place: smaller stacks are left out */

bool report_has_freed(const struct report *r)
{
	return r->model != NULL && model_has_freed_by(r->model);
}

/* ---- sums ---- */

static struct freed_row *add(struct report_freed *freed, uint64_t key,
			     const struct freed_row *row)
{
	uint32_t i = table_get(&freed->by_node, key);
	struct freed_row *to;

	if (i == TABLE_NONE) {
		GROW(freed->list, freed->count, freed->capacity);
		i = (uint32_t)freed->count++;
		table_set(&freed->by_node, key, i);
		freed->list[i] = (struct freed_row){ .node = row->node };
	}
	to = &freed->list[i];
	to->sum.blocks += row->sum.blocks;
	to->sum.bytes += row->sum.bytes;
	to->sum.lifetime += row->sum.lifetime;
	return to;
}

void report_freed_add(struct report_freed *freed, const struct model *model,
		      uint32_t cost)
{
	const struct freed_row *pair;
	uint32_t at = 0;

	while ((pair = freed_next(model_freed(model), cost, &at)) != NULL)
		add(freed, pair->node, pair);
}

void report_freed_free(struct report_freed *freed)
{
	free(freed->list);
	table_free(&freed->by_node);
}

static bool is_kept(const struct report *r, const struct context_cost *cost)
{
	struct figures figures;

	if (r->keep == NULL)
		return true;
	model_figures(r->model, cost, &figures);
	return r->keep(r->keeper, cost->node, &figures);
}

/* Of all blocks that the filters let pass. */
static void collect(const struct report *r, struct report_freed *freed)
{
	const struct contexts *contexts = model_contexts(r->model);
	const struct freed *all = model_freed(r->model);

	for (size_t i = 0; i < all->row_count && r->keep == NULL; i++)
		add(freed, all->rows[i].node, &all->rows[i]);
	for (size_t i = 0; i < contexts->cost_count && r->keep != NULL; i++)
		if (is_kept(r, &contexts->costs[i]))
			report_freed_add(freed, r->model, (uint32_t)i);
}

/* Most bytes first, then most blocks. */
static int by_bytes(const void *a, const void *b)
{
	const struct freed_row *x = a, *y = b;

	if (x->sum.bytes != y->sum.bytes)
		return x->sum.bytes > y->sum.bytes ? -1 : 1;
	if (x->sum.blocks != y->sum.blocks)
		return x->sum.blocks > y->sum.blocks ? -1 : 1;
	return x->node < y->node ? -1 : x->node > y->node;
}

static void sort(struct report_freed *freed)
{
	if (freed->count > 0)
		qsort(freed->list, freed->count, sizeof(*freed->list),
		      by_bytes);
}

static uint64_t mean_lifetime_ns(const struct model *model,
				 const struct freed_sum *sum)
{
	return sum->blocks == 0 ? 0 :
		(uint64_t)(clock_rate(model_clock(model)) *
			   (sum->lifetime / (double)sum->blocks));
}

/* ---- text ---- */

/* A place that frees, and its stacks. */
struct site {
	struct freed_row row;	/* its sum; the node of the first stack */
	uint32_t first, last;	/* most bytes first */
	size_t stacks;
};

struct sites {
	struct site *list;
	size_t count, capacity;
	uint32_t *next;		/* by stack: that of the same place */
	struct table by_key;
};

static void add_stack(struct sites *sites, uint64_t key,
		      const struct freed_row *row, uint32_t stack)
{
	uint32_t i = table_get(&sites->by_key, key);
	struct site *site;

	if (i == TABLE_NONE) {
		GROW(sites->list, sites->count, sites->capacity);
		i = (uint32_t)sites->count++;
		table_set(&sites->by_key, key, i);
		sites->list[i] = (struct site){
			.row.node = row->node, .first = stack, .last = stack,
		};
	}
	site = &sites->list[i];
	if (site->stacks++ > 0)
		sites->next[site->last] = stack;
	site->last = stack;
	site->row.sum.blocks += row->sum.blocks;
	site->row.sum.bytes += row->sum.bytes;
	site->row.sum.lifetime += row->sum.lifetime;
}

static int by_site_bytes(const void *a, const void *b)
{
	const struct site *x = a, *y = b;

	return by_bytes(&x->row, &y->row);
}

/* By stack, each is a row. */
static void group_sites(const struct report *r,
			const struct report_freed *stacks, struct sites *sites)
{
	bool whole = query_is(&r->options->query, QUERY_OF_STACK);

	if (!whole)
		frames_find_sites(r->frames);
	sites->next = grow_zeroed(stacks->count + 1, sizeof(*sites->next));
	for (size_t i = 0; i < stacks->count; i++)
		add_stack(sites, whole ? stacks->list[i].node :
			  frames_site_key(r->frames, stacks->list[i].node),
			  &stacks->list[i], (uint32_t)i);
	if (sites->count > 0)
		qsort(sites->list, sites->count, sizeof(*sites->list),
		      by_site_bytes);
}

static void put_sum_text(struct report *r, const struct freed_row *row,
			 uint64_t whole)
{
	char a[QUANTITY_TEXT], b[QUANTITY_TEXT], c[QUANTITY_TEXT];

	fprintf(r->out, "%s%6s%s  %s in %s block%s", r->style->share,
		quantity_percent(a, row->sum.bytes, whole), r->style->off,
		quantity_size(b, (int64_t)row->sum.bytes),
		quantity_count(c, row->sum.blocks),
		report_plural(row->sum.blocks));
	fprintf(r->out, ", freed after %s on average",
		quantity_time(a, mean_lifetime_ns(r->model, &row->sum)));
}

static void put_stack(struct report *r, uint32_t node, bool whole, int indent)
{
	report_load_context(r, node);
	if (r->stack.count == 0)
		fprintf(r->out, "%*s[no stack]\n", indent, "");
	else
		report_stack(r, whole ? 0 : r->stack.site, whole ? 0 : FRAMES,
			     indent);
}

/* Of a place with several stacks, those that freed most. */
static void put_parts(struct report *r, const struct site *site,
		      const struct report_freed *stacks, const uint32_t *next,
		      uint64_t whole)
{
	uint64_t least = site->row.sum.bytes / PART_MIN;
	uint32_t at = site->first;
	char more[QUANTITY_TEXT];
	size_t i;

	for (i = 0; i < site->stacks && i < QUERY_PARTS; i++) {
		const struct freed_row *row = &stacks->list[at];

		if (i > 0 && row->sum.bytes <= least)
			break;
		fprintf(r->out, "%*s- ", INDENT - 4, "");
		put_sum_text(r, row, whole);
		putc('\n', r->out);
		put_stack(r, row->node, false, INDENT + 4);
		at = next[at];
	}
	if (i < site->stacks)
		fprintf(r->out, "%*s- and %s more stack%s: --by stack\n",
			INDENT - 4, "", quantity_count(more, site->stacks - i),
			report_plural(site->stacks - i));
}

static void put_site(struct report *r, const struct site *site, size_t number,
		     const struct report_freed *stacks, const uint32_t *next,
		     uint64_t whole)
{
	bool stack = query_is(&r->options->query, QUERY_OF_STACK);

	fprintf(r->out, "\n%4zu. ", number);
	put_sum_text(r, &site->row, whole);
	if (stack)
		fprintf(r->out, "\n%*s%s(context %" PRIu32 ")%s", INDENT, "",
			r->style->dim, site->row.node, r->style->off);
	putc('\n', r->out);
	if (site->stacks > 1)
		put_parts(r, site, stacks, next, whole);
	else
		put_stack(r, site->row.node, stack, INDENT);
}

static void put_sites(struct report *r, const struct report_freed *stacks,
		      const struct sites *sites)
{
	uint64_t top = r->options->top_given ? r->options->top : DEFAULT_ROWS;
	uint64_t whole = 0;
	size_t shown = top != 0 && top < sites->count ? top : sites->count;
	char more[QUANTITY_TEXT];

	for (size_t i = 0; i < sites->count; i++)
		whole += sites->list[i].row.sum.bytes;
	if (sites->count == 0)
		fprintf(r->out, "\n      none\n");
	for (size_t i = 0; i < shown; i++)
		put_site(r, &sites->list[i], i + 1, stacks, sites->next, whole);
	if (shown < sites->count)
		fprintf(r->out, "\n      and %s more %s%s: --top 0\n",
			quantity_count(more, sites->count - shown),
			query_is(&r->options->query, QUERY_OF_STACK) ? "stack" : "site",
			report_plural(sites->count - shown));
}

void report_freed_text(struct report *r)
{
	struct report_freed stacks = { 0 };
	struct sites sites = { 0 };

	if (!report_has_freed(r))
		return;
	collect(r, &stacks);
	sort(&stacks);
	group_sites(r, &stacks, &sites);
	fprintf(r->out, "\n%sFREED BY%s: the %s that free, or realloc, the most "
		"bytes\n", r->style->title, r->style->off,
		query_is(&r->options->query, QUERY_OF_STACK) ? "call stacks" : "places");
	put_sites(r, &stacks, &sites);
	report_freed_free(&stacks);
	free(sites.list);
	free(sites.next);
	table_free(&sites.by_key);
}

/* ---- JSON ---- */

static void put_sum(struct json *json, const struct model *model,
		    const struct freed_row *row)
{
	json_uint(json, "context", row->node);
	json_uint(json, "blocks", row->sum.blocks);
	json_uint(json, "bytes", row->sum.bytes);
	json_uint(json, "lifetime_ns", mean_lifetime_ns(model, &row->sum));
}

void report_freed_row(struct json *json, const struct model *model,
		      struct report_freed *freed)
{
	sort(freed);
	json_uint(json, "freed_by_stacks", freed->count);
	json_array(json, "freed_by");
	for (size_t i = 0; i < freed->count && i < ROW_STACKS; i++) {
		json_object(json, NULL);
		put_sum(json, model, &freed->list[i]);
		json_end_object(json);
	}
	json_end_array(json);
}

void report_freed_json(struct json *json, struct report *r)
{
	uint64_t top = r->options->top_given ? r->options->top :
		DEFAULT_JSON_ROWS;
	struct report_freed stacks = { 0 };

	if (!report_has_freed(r))
		return;
	collect(r, &stacks);
	sort(&stacks);
	json_uint(json, "freed_by_stacks", stacks.count);
	json_array(json, "freed_by");
	for (size_t i = 0; i < stacks.count && (top == 0 || i < top); i++) {
		json_object(json, NULL);
		put_sum(json, r->model, &stacks.list[i]);
		report_load_context(r, stacks.list[i].node);
		report_json_stack(json, &r->stack, 0, r->once);
		json_end_object(json);
	}
	json_end_array(json);
	report_freed_free(&stacks);
}
