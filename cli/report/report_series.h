/*
 * report_series.h: what the rows of a report had or did over time
 * (cli/query/series.h). Called by the main thread.
 */
#ifndef GNOMON_REPORT_SERIES_H
#define GNOMON_REPORT_SERIES_H

#include "cli/query/series.h"
#include "cli/report/report.h"

/* A table of the largest rows, the others and the whole. */
void report_series_text(struct report *report);
/* Of the first `shown` rows, for JSON; to be released by series_free. */
void report_series_follow(const struct report *report, struct query_rows *rows,
			  size_t shown, struct series *series);
/* An array of steps. */
void report_series_json(struct json *json, const char *name,
			const struct series_step *list,
			const struct series_axis *axis);
/* Members beside the rows: the others, and the whole. */
void report_series_rest_json(struct json *json, const struct series *series);

#endif
