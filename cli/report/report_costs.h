/*
 * report_costs.h: which row of a report each cost of its model belongs to.
 */
#ifndef GNOMON_REPORT_COSTS_H
#define GNOMON_REPORT_COSTS_H

#include "cli/report/report_rows.h"

struct report_costs {
	const struct report *report;
	const struct report_rows *rows;
	struct table row_of;	/* a row's `group` -> its index */
};

/* For rows that consist of stacks (rows->grouped), of one model; a profile,
 * if there is one, was made with its costs (profile.h). */
void report_costs_begin(struct report_costs *costs,
			const struct report *report,
			const struct report_rows *rows);
/* The index of the row, or TABLE_NONE: none that is there. */
uint32_t report_costs_row(const struct report_costs *costs, uint32_t number);
void report_costs_free(struct report_costs *costs);

#endif
