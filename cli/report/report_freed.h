/*
 * report_freed.h: who frees, for traces recorded with --free-stacks: a table of
 * freeing code as text; as JSON, all call stacks that freed, and for each row
 * the stacks that freed its blocks. Nothing for other traces.
 */
#ifndef GNOMON_REPORT_FREED_H
#define GNOMON_REPORT_FREED_H

#include "cli/model/stats/freed.h"
#include "cli/report/report.h"

/* Whether there is anything to report. */
bool report_has_freed(const struct report *report);
void report_freed_text(struct report *report);
/* "freed_by" for the whole trace: with stacks. */
void report_freed_json(struct json *json, struct report *report);

/* Adds to `freed` who freed this cost's blocks. */
void report_freed_add(struct freed *freed, const struct model *model,
		      uint32_t cost);
/* "freed_by" for a row: numbers of the stacks that freed most. */
void report_freed_row(struct json *json, const struct model *model,
		      struct freed *freed);

#endif
