/*
 * report_rows.c: see report_rows.h. Called by the main thread.
 *
 *  I1  Each stack that counts (report->keep) is in exactly one row, so that
 *      the rows of a sum add up to report->sum.
 */
#include "cli/report_rows.h"

#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"

static uint64_t group_site(void *owner, const struct context_cost *cost)
{
	return frames_site_key(owner, cost->node);
}

static uint64_t group_part(void *owner, const struct context_cost *cost)
{
	(void)owner;
	return cost->part;
}

static uint64_t (*grouping(const struct report *r))
	(void *owner, const struct context_cost *cost)
{
	switch (r->options->by) {
	case REPORT_BY_SITE:
		return group_site;
	case REPORT_BY_THREAD:
	case REPORT_BY_SIZE:
		return group_part;
	default:
		return NULL;
	}
}

void report_rows_collect(const struct report *r, enum figure key,
			 uint64_t top, struct report_rows *rows)
{
	const struct rows_query query = {
		.key = key,
		.group = grouping(r),
		.owner = r->frames,
		.keep = r->keep,
		.keeper = r->keeper,
		.limit = top,
	};

	memset(rows, 0, sizeof(*rows));
	rows->grouped = query.group != NULL;
	rows_collect(r->model, &query, &rows->rows);
	rows_sort(&rows->rows);
	rows->nonzero = rows->rows.nonzero;
}

void report_rows_free(struct report_rows *rows)
{
	free(rows->rows.list);
}

/* Of equal ones, the first that was made comes first. */
static void offer(struct report_parts *parts, const struct report_part *part,
		  enum figure key, uint64_t end_ns)
{
	uint64_t value = figures_value(&part->figures, key, end_ns);
	size_t at = parts->count;

	if (value == 0)
		return;
	parts->nonzero++;
	while (at > 0 && figures_value(&parts->list[at - 1].figures, key,
				       end_ns) < value)
		at--;
	if (at == REPORT_PARTS)
		return;
	if (parts->count < REPORT_PARTS)
		parts->count++;
	memmove(&parts->list[at + 1], &parts->list[at],
		(parts->count - at - 1) * sizeof(*parts->list));
	parts->list[at] = *part;
}

struct report_parts *report_rows_parts(const struct report *r,
				       const struct report_rows *rows,
				       size_t shown)
{
	struct report_parts *parts = grow_zeroed(shown, sizeof(*parts));
	uint64_t (*group)(void *, const struct context_cost *) = grouping(r);
	const struct contexts *contexts = &r->model->contexts;
	struct table row_of = { 0 };

	for (size_t i = 0; i < shown; i++)
		table_set(&row_of, rows->rows.list[i].group, (uint32_t)i);
	for (size_t i = 0; group != NULL && i < contexts->cost_count; i++) {
		const struct context_cost *cost = &contexts->costs[i];
		uint32_t row = table_get(&row_of, group(r->frames, cost));
		struct report_part part = { .node = cost->node };

		if (row == TABLE_NONE)
			continue;
		if (r->keep != NULL && !r->keep(r->keeper, cost->node))
			continue;
		model_figures(r->model, cost, &part.figures);
		offer(&parts[row], &part, rows->rows.key, r->end_ns);
	}
	table_free(&row_of);
	return parts;
}

const char *report_rows_name(const struct report *r, uint64_t count)
{
	static const char *const names[REPORT_BYS][2] = {
		[REPORT_BY_STACK] = { "stack", "stacks" },
		[REPORT_BY_SITE] = { "site", "sites" },
		[REPORT_BY_FUNCTION] = { "function", "functions" },
		[REPORT_BY_FILE] = { "file", "files" },
		[REPORT_BY_LIBRARY] = { "library", "libraries" },
		[REPORT_BY_THREAD] = { "thread", "threads" },
		[REPORT_BY_SIZE] = { "size", "sizes" },
		[REPORT_BY_BLOCK] = { "block", "blocks" },
	};

	return names[r->options->by][count != 1];
}

void report_add_up(struct report *r)
{
	const struct contexts *contexts = &r->model->contexts;

	memset(&r->sum, 0, sizeof(r->sum));
	r->contexts = 0;
	for (size_t i = 0; i < contexts->cost_count; i++) {
		const struct context_cost *cost = &contexts->costs[i];
		struct figures figures;

		if (r->keep != NULL && !r->keep(r->keeper, cost->node))
			continue;
		model_figures(r->model, cost, &figures);
		figures_add(&r->sum, &figures);
		r->contexts++;
	}
}
