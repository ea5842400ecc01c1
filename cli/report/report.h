/*
 * report.h: the parts of `gnomon report`. Called by the main thread.
 *
 * A report is about *groups*: sets of allocations that have something in
 * common (profile_groups.h). Its summary and its rows count the same blocks:
 * those that all filters let pass.
 */
#ifndef GNOMON_REPORT_H
#define GNOMON_REPORT_H

#include "cli/base/text/csv.h"
#include "cli/command/print/report_parts.h"
#include "cli/query/rows.h"
#include "cli/query/series.h"

void report_text(struct report *report);
/* On one screen: for who has not said what to show. */
void report_brief_text(struct report *report);
/* What follows the summary; as JSON members. */
void report_body_text(struct report *report);
void report_body_json(struct json *json, struct report *report);
void report_json(struct report *report);
void report_csv(struct report *report);

/* Its rows by a figure, `limit` of them at most (0: all): one table at a time;
 * to be released by query_rows_free. */
void report_collect(struct report *report, enum figure order, uint64_t limit,
		    struct query_rows *rows);
/* The same in two steps: between them r->query may be changed. */
void report_source(struct report *report, enum figure order, uint64_t limit);
void report_collect_query(struct report *report, struct query_rows *rows);
/* The figure that --sort names; else `other`. */
enum figure report_order(const struct report *report, enum figure other);
/* Of so many, how many are shown: what --top says, else `few` (0: all). */
uint64_t report_top(const struct report *report, uint64_t few);
size_t report_shown(const struct report *report, size_t count, uint64_t few);
/* The stack of a row, or a part of one: of a context or a profile's node. */
void report_load(struct report *report, uint32_t node);
/* The stack of a context, also where rows are of a profile. */
void report_load_context(struct report *report, uint32_t node);

/* ---- sections, and members of the JSON object ---- */

/* Those of which there is nothing to tell say nothing, unless it is said here.
 * JSON's have the name of the member that they write. */

/* What --guard found: writes beside blocks, and blocks that were freed twice:
 * "damages". */
void report_damages_text(struct report *report);
void report_damages_json(struct json *json, struct report *report);
/* Which code lets blocks grow by realloc, step by step, and what copying that
 * costs: of a model that has chains. "chains": of all that the filters let
 * pass. */
void report_chains_text(struct report *report);
void report_chains_json(struct json *json, const struct report *report);
/* How what was live changed over the run, at a few moments: of a model that
 * has a timeline. "timeline"; not with filters of stacks, which it does not
 * know. */
void report_timeline_text(const struct report *report);
void report_timeline_json(struct json *json, const struct report *report);
/* The live blocks themselves: "rows". */
void report_blocks_text(struct report *report);
void report_blocks_json(struct json *json, struct report *report);
/* A tree of calls, from the outermost functions inward or from the sites
 * outward; the report's profile is folded. "rows": branches, each before what
 * lies behind it; in a table a line for each, in the same order. */
void report_tree_text(struct report *report, enum figure key);
void report_tree_json(struct json *json, struct report *report,
		      enum figure key);
void report_tree_csv(struct csv *csv, struct report *report, enum figure key);
/* What the rows had or did over time (cli/query/series.h): a table of the
 * largest rows, the others and the whole. */
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
/* Which libraries lack names, and how to get them: a line on standard error,
 * if what was shown had functions without a name. Comes behind the report. */
void report_nameless(const struct report *report);

#endif
