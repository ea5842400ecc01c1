/*
 * report_freed.h: who frees, of a trace that was recorded with --free-stacks:
 * a table of places that free for people; all call stacks that freed, and for
 * each row those that freed its blocks, as JSON. Of other traces nothing.
 */
#ifndef GNOMON_REPORT_FREED_H
#define GNOMON_REPORT_FREED_H

#include "cli/model/stats/freed.h"
#include "cli/report/report.h"

/* Whether there is anything to tell. */
bool report_has_freed(const struct report *report);
void report_freed_text(struct report *report);
/* "freed_by" of the whole: with stacks. */
void report_freed_json(struct json *json, struct report *report);

/* Who freed what this cost had allocated, put to what is there. */
void report_freed_add(struct freed *freed, const struct model *model,
		      uint32_t cost);
/* "freed_by" of a row: numbers of stacks, those that freed most. */
void report_freed_row(struct json *json, const struct model *model,
		      struct freed *freed);

#endif
