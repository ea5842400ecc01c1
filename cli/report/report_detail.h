/*
 * report_detail.h: what --sizes adds to a report in JSON: to each row its
 * sizes, lifetimes and chains of reallocs. And, where that was recorded, who
 * freed a row's blocks.
 */
#ifndef GNOMON_REPORT_DETAIL_H
#define GNOMON_REPORT_DETAIL_H

#include "cli/report/report.h"

struct report_detail {
	const struct report *report;	/* NULL: nothing is to be added */
	struct query_rows *rows;
	uint32_t *first;	/* by row: a cost of it, */
	uint32_t *next;		/* by cost: another one; TABLE_NONE: none */
};

/* Of a report of one trace. */
void report_detail_begin(struct report_detail *detail,
			 const struct report *report,
			 struct query_rows *rows);
/* "sizes", "lifetimes", and "chains" if there were any; "freed_by"; of a row by
 * its index. */
void report_detail_row(struct json *json, const struct report_detail *detail,
		       size_t row);
void report_detail_end(struct report_detail *detail);

#endif
