/*
 * report_freed.c: see report_freed.h. Stack filters select allocating stacks;
 * the pairs of allocating and freeing stack show who freed their blocks.
 *
 * Called by the main thread.
 */
#include "cli/report/report_freed.h"

#include <inttypes.h>
#include <stdlib.h>

#include "cli/base/grow.h"
#include "cli/base/sort.h"
#include "cli/base/text/quantity.h"
#include "cli/model/core/contexts.h"
#include "cli/model/stats/freed.h"
#include "cli/query/rows.h"
#include "cli/trace/read/clock.h"

#define DEFAULT_ROWS 5
#define DEFAULT_JSON_ROWS 1000
#define ROW_STACKS 32		/* listed in a row */
#define FRAMES 6		/* lines of a stack */
#define INDENT 9
#define PART_MIN 20		/* stacks below 1/20 of a site are left out */

bool report_has_freed(const struct report *r)
{
	return r->model != NULL && model_has_freed_by(r->model);
}

/* ---- sums ---- */

void report_freed_add(struct freed *freed, const struct model *model,
		      uint32_t cost)
{
	const struct freed_row *pair;
	uint32_t at = 0;

	while ((pair = freed_next(model_freed(model), cost, &at)) != NULL)
		freed_add(freed, pair->node, FREED_NO_COST, &pair->sum);
}

/* For all blocks that pass the filters. */
static void collect(const struct report *r, struct freed *freed)
{
	const struct contexts *contexts = model_contexts(r->model);
	const struct freed *all = model_freed(r->model);
	struct figures figures;

	for (size_t i = 0; i < all->row_count && r->keep == NULL; i++)
		freed_add(freed, all->rows[i].node, FREED_NO_COST,
			  &all->rows[i].sum);
	for (size_t i = 0; i < contexts->cost_count && r->keep != NULL; i++)
		if (report_keeps(r, i, &figures))
			report_freed_add(freed, r->model, (uint32_t)i);
}

/* Most bytes first, then most blocks. */
static int by_bytes(const void *a, const void *b)
{
	const struct freed_row *x = a, *y = b;

	return sort_down(x->sum.bytes, y->sum.bytes) ?:
	       sort_down(x->sum.blocks, y->sum.blocks) ?:
	       sort_up(x->node, y->node);
}

static void sort(struct freed *freed)
{
	SORT(freed->rows, freed->row_count, by_bytes);
}

static uint64_t mean_lifetime_ns(const struct model *model,
				 const struct freed_sum *sum)
{
	return sum->blocks == 0 ? 0 :
		(uint64_t)(clock_rate(model_clock(model)) *
			   (sum->lifetime / (double)sum->blocks));
}

/* ---- text ---- */

/* A site that frees, and its stacks. */
struct site {
	struct freed_row row;	/* its sum; node of the first stack */
	uint32_t first, last;	/* most bytes first */
	size_t stacks;
};

struct sites {
	struct site *list;
	size_t count, capacity;
	uint32_t *next;		/* by stack: next stack of the same site */
	struct table by_key;
};

static void add_stack(struct sites *sites, uint64_t key,
		      const struct freed_row *row, uint32_t stack)
{
	uint32_t i = table_number(&sites->by_key, key, sites->count);
	struct site *site;

	if (i == sites->count) {
		GROW(sites->list, sites->count, sites->capacity);
		sites->list[sites->count++] = (struct site){
			.row.node = row->node, .first = stack, .last = stack,
		};
	}
	site = &sites->list[i];
	if (site->stacks++ > 0)
		sites->next[site->last] = stack;
	site->last = stack;
	freed_sum_add(&site->row.sum, &row->sum);
}

static int by_site_bytes(const void *a, const void *b)
{
	const struct site *x = a, *y = b;

	return by_bytes(&x->row, &y->row);
}

/* With --by stack, each stack is a row. */
static void group_sites(const struct report *r,
			const struct freed *stacks, struct sites *sites)
{
	bool whole = query_is(r->options->query, QUERY_OF_STACK);

	if (!whole)
		frames_find_sites(r->frames);
	sites->next = grow_zeroed(stacks->row_count + 1, sizeof(*sites->next));
	for (size_t i = 0; i < stacks->row_count; i++)
		add_stack(sites, whole ? stacks->rows[i].node :
			  frames_site_key(r->frames, stacks->rows[i].node),
			  &stacks->rows[i], (uint32_t)i);
	SORT(sites->list, sites->count, by_site_bytes);
}

static void put_sum_text(struct report *r, const struct freed_row *row,
			 uint64_t whole)
{
	fprintf(r->out, "%s%6s%s  %s in %s", r->style->share,
		PERCENT_TEXT(row->sum.bytes, whole), r->style->off,
		SIZE_TEXT(row->sum.bytes), COUNTED(row->sum.blocks, "block"));
	fprintf(r->out, ", freed after %s on average",
		TIME_TEXT(mean_lifetime_ns(r->model, &row->sum)));
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

/* For a site with several stacks: the stacks that freed most. */
static void put_parts(struct report *r, const struct site *site,
		      const struct freed *stacks, const uint32_t *next,
		      uint64_t whole)
{
	uint64_t min = site->row.sum.bytes / PART_MIN;
	uint32_t at = site->first;
	size_t i;

	for (i = 0; i < site->stacks && i < QUERY_PARTS; i++) {
		const struct freed_row *row = &stacks->rows[at];

		if (i > 0 && row->sum.bytes <= min)
			break;
		fprintf(r->out, "%*s- ", INDENT - 4, "");
		put_sum_text(r, row, whole);
		putc('\n', r->out);
		put_stack(r, row->node, false, INDENT + 4);
		at = next[at];
	}
	if (i < site->stacks)
		fprintf(r->out, "%*s- and %s: --by stack\n", INDENT - 4, "",
			COUNTED(site->stacks - i, "more stack"));
}

static void put_site(struct report *r, const struct site *site, size_t number,
		     const struct freed *stacks, const uint32_t *next,
		     uint64_t whole)
{
	bool stack = query_is(r->options->query, QUERY_OF_STACK);

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

static void put_sites(struct report *r, const struct freed *stacks,
		      const struct sites *sites)
{
	size_t shown = report_shown(r, sites->count, DEFAULT_ROWS);
	uint64_t whole = 0;

	for (size_t i = 0; i < sites->count; i++)
		whole += sites->list[i].row.sum.bytes;
	if (sites->count == 0)
		fprintf(r->out, "\n      none\n");
	for (size_t i = 0; i < shown; i++)
		put_site(r, &sites->list[i], i + 1, stacks, sites->next, whole);
	if (shown < sites->count)
		fprintf(r->out, "\n      and %s: --top 0\n",
			COUNTED(sites->count - shown,
				query_is(r->options->query, QUERY_OF_STACK) ?
				"more stack" : "more site"));
}

void report_freed_text(struct report *r)
{
	struct freed stacks = { 0 };
	struct sites sites = { 0 };

	if (!report_has_freed(r))
		return;
	collect(r, &stacks);
	sort(&stacks);
	group_sites(r, &stacks, &sites);
	fprintf(r->out, "\n%sFREED BY%s: the %s that freed, or reallocated, "
		"the most bytes\n", r->style->title, r->style->off,
		query_is(r->options->query, QUERY_OF_STACK) ?
		"call stacks" : "sites");
	put_sites(r, &stacks, &sites);
	freed_free(&stacks);
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
		      struct freed *freed)
{
	sort(freed);
	json_uint(json, "freed_by_stacks", freed->row_count);
	json_array(json, "freed_by");
	for (size_t i = 0; i < freed->row_count && i < ROW_STACKS; i++) {
		json_object(json, NULL);
		put_sum(json, model, &freed->rows[i]);
		json_end_object(json);
	}
	json_end_array(json);
}

void report_freed_json(struct json *json, struct report *r)
{
	struct freed stacks = { 0 };
	size_t shown;

	if (!report_has_freed(r))
		return;
	collect(r, &stacks);
	sort(&stacks);
	json_uint(json, "freed_by_stacks", stacks.row_count);
	json_array(json, "freed_by");
	shown = report_shown(r, stacks.row_count, DEFAULT_JSON_ROWS);
	for (size_t i = 0; i < shown; i++) {
		json_object(json, NULL);
		put_sum(json, r->model, &stacks.rows[i]);
		report_load_context(r, stacks.rows[i].node);
		report_json_stack(json, &r->stack, 0, r->once);
		json_end_object(json);
	}
	json_end_array(json);
	freed_free(&stacks);
}
