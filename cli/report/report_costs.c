/*
 * report_costs.c: see report_costs.h. Called by the main thread.
 *
 *  I1  A context, or a part of it by thread or size, is in one row (I1 of
 *      report_rows.c), so that rows are groups that share nothing.
 */
#include "cli/report/report_costs.h"

void report_costs_begin(struct report_costs *costs, const struct report *r,
			const struct report_rows *rows)
{
	*costs = (struct report_costs){ .report = r, .rows = rows };
	for (size_t i = 0; i < rows->rows.count; i++)
		table_set(&costs->row_of, rows->rows.list[i].group,
			  (uint32_t)i);
}

/* A row's `group`, for a cost that is in some row. */
static uint64_t group_of(const struct report_costs *costs, uint32_t number)
{
	const struct report *r = costs->report;

	if (r->profile != NULL)
		return costs->rows->groups.of_self[
			r->profile->self_of_cost[number]];
	return report_rows_grouping(r)(r->frames,
				       &r->model->contexts.costs[number]);
}

static bool is_kept(const struct report *r, uint32_t number)
{
	const struct context_cost *cost = &r->model->contexts.costs[number];
	struct figures figures;

	if (r->profile != NULL)
		return r->profile->self_of_cost[number] != PROFILE_NONE;
	if (r->keep == NULL)
		return true;
	model_figures(r->model, cost, &figures);
	return r->keep(r->keeper, cost->node, &figures);
}

uint32_t report_costs_row(const struct report_costs *costs, uint32_t number)
{
	return is_kept(costs->report, number) ?
		table_get(&costs->row_of, group_of(costs, number)) :
		TABLE_NONE;
}

void report_costs_free(struct report_costs *costs)
{
	table_free(&costs->row_of);
}
