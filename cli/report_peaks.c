/*
 * report_peaks.c: see report_peaks.h. Called by the main thread.
 *
 *  I1  A context, or a part of it by thread or size, is in one row (I1 of
 *      report_rows.c), so that rows are groups that share nothing.
 */
#include "cli/report_peaks.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "cli/base/grow.h"
#include "cli/base/tell.h"

struct finding {
	const struct report *report;
	const struct report_rows *rows;
	report_group *group;
	struct table row_of;	/* a row's `group` -> its index */
};

/* A row's `group`, for a cost that is in some row. */
static uint64_t group_of(const struct finding *finding, uint32_t number)
{
	const struct report *r = finding->report;

	if (r->profile != NULL)
		return finding->rows->groups.of_self[
			r->profile->self_of_cost[number]];
	return finding->group(r->frames, &r->model->contexts.costs[number]);
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

static uint32_t row_of_part(void *owner, uint32_t node, uint32_t part)
{
	const struct finding *finding = owner;
	const struct report *r = finding->report;
	uint32_t number = contexts_find_cost(&r->model->contexts, node, part);
	uint32_t row;

	if (number == CONTEXT_NO_COST || !is_kept(r, number))
		return MODEL_NO_GROUP;
	row = table_get(&finding->row_of, group_of(finding, number));
	return row != TABLE_NONE ? row : MODEL_NO_GROUP;
}

/* Is there a row whose own peak is a sum? */
static bool is_needed(const struct report_rows *rows)
{
	for (size_t i = 0; i < rows->rows.count; i++)
		if (rows->rows.list[i].contexts > 1)
			return true;
	return false;
}

static bool is_possible(const struct report *r)
{
	struct stat status;

	return r->model != NULL && !r->model->report.being_written &&
		r->model->leftout.blocks == 0 &&
		(r->profile == NULL || r->profile->with_costs) &&
		stat(r->about.trace, &status) == 0 && S_ISREG(status.st_mode);
}

void report_peaks(const struct report *r, struct report_rows *rows,
		  report_group *group)
{
	struct finding finding = { .report = r, .rows = rows, .group = group };
	size_t count = rows->rows.count;
	struct row *list = rows->rows.list;
	struct group_peak *peaks;

	if (!is_needed(rows) || !is_possible(r))
		return;
	for (size_t i = 0; i < count; i++)
		table_set(&finding.row_of, list[i].group, (uint32_t)i);
	peaks = grow_zeroed(count, sizeof(*peaks));
	rows->exact = model_group_peaks(r->model, r->about.trace, row_of_part,
					&finding, peaks, count) !=
		EXIT_NOTHING;
	for (size_t i = 0; i < count && rows->exact; i++) {
		list[i].figures.own_peak_bytes = peaks[i].bytes;
		list[i].figures.own_peak_blocks = peaks[i].blocks;
		list[i].figures.own_peak_ns = peaks[i].ns;
	}
	free(peaks);
	table_free(&finding.row_of);
}
