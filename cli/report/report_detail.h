/*
 * report_detail.h: details of rows in JSON: sizes, lifetimes and realloc chains
 * with --sizes; and, if recorded, who freed a row's blocks.
 */
#ifndef GNOMON_REPORT_DETAIL_H
#define GNOMON_REPORT_DETAIL_H

#include "cli/report/report.h"

struct report_detail {
	const struct report *report;	/* NULL: no details */
	struct query_rows *rows;
	uint32_t *first;	/* by row: one of its costs, */
	uint32_t *next;		/* by cost: the row's next one; or TABLE_NONE */
};

/* For a report of one trace. */
void report_detail_begin(struct report_detail *detail,
			 const struct report *report,
			 struct query_rows *rows);
/* "sizes", "lifetimes", and "chains" if there were any; "freed_by". `row` is
 * its index. */
void report_detail_row(struct json *json, const struct report_detail *detail,
		       size_t row);
void report_detail_end(struct report_detail *detail);

#endif
