/*
 * report.h: the parts of `gnomon report`. Called by the main thread.
 *
 * A report is about *groups*: sets of allocations that have something in
 * common (profile_groups.h). Its summary and its rows count the same blocks:
 * those that all filters let pass.
 */
#ifndef GNOMON_REPORT_H
#define GNOMON_REPORT_H

#include "cli/command/print/report_parts.h"
#include "cli/query/rows.h"

void report_text(struct report *report);
/* What follows the summary; as JSON members. */
void report_body_text(struct report *report);
void report_body_json(struct json *json, struct report *report);
void report_json(struct report *report);
void report_csv(struct report *report);

/* Of what its rows are made. */
struct query_source report_source(const struct report *report);
/* The stack of a row, or a part of one: of a context or a profile's node. */
void report_load(struct report *report, uint32_t node);
/* The stack of a context, also where rows are of a profile. */
void report_load_context(struct report *report, uint32_t node);

#endif
