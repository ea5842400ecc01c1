/*
 * report_peaks.c: see report_peaks.h. Called by the main thread.
 */
#include "cli/report/report_peaks.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "cli/base/grow.h"
#include "cli/base/terminal/tell.h"
#include "cli/report/report_costs.h"

static uint32_t row_of_part(void *owner, uint32_t node, uint32_t part)
{
	const struct report_costs *costs = owner;
	uint32_t number = contexts_find_cost(&costs->report->model->contexts,
					     node, part);
	uint32_t row = number == CONTEXT_NO_COST ? TABLE_NONE :
		report_costs_row(costs, number);

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

void report_peaks(const struct report *r, struct report_rows *rows)
{
	struct report_costs costs;
	size_t count = rows->rows.count;
	struct row *list = rows->rows.list;
	struct group_peak *peaks;

	if (!is_needed(rows) || !is_possible(r))
		return;
	report_costs_begin(&costs, r, rows);
	peaks = grow_zeroed(count, sizeof(*peaks));
	rows->exact = model_group_peaks(r->model, r->about.trace, row_of_part,
					&costs, peaks, count) !=
		EXIT_NOTHING;
	for (size_t i = 0; i < count && rows->exact; i++) {
		list[i].figures.own_peak_bytes = peaks[i].bytes;
		list[i].figures.own_peak_blocks = peaks[i].blocks;
		list[i].figures.own_peak_ns = peaks[i].ns;
	}
	free(peaks);
	report_costs_free(&costs);
}
