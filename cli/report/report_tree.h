/*
 * report_tree.h: a report as a tree of calls, from the outermost functions
 * inward or from the sites outward. The report's profile is folded.
 */
#ifndef GNOMON_REPORT_TREE_H
#define GNOMON_REPORT_TREE_H

#include "cli/base/text/csv.h"
#include "cli/report/report.h"

void report_tree_text(struct report *report, enum figure key);
/* The member "rows": branches, each before what lies behind it. */
void report_tree_json(struct json *json, struct report *report,
		      enum figure key);
/* A line for each branch, in the same order. */
void report_tree_csv(struct csv *csv, struct report *report, enum figure key);

#endif
