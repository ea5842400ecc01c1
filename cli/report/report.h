/*
 * report.h: the parts of `gnomon report`. Called by the main thread.
 *
 * A report has *groups* as rows: sets of allocations with a common property
 * (profile_groups.h). Summary and rows count the same blocks: those that pass
 * all filters.
 */
#ifndef GNOMON_REPORT_H
#define GNOMON_REPORT_H

#include "cli/base/text/csv.h"
#include "cli/command/print/report_parts.h"
#include "cli/query/rows.h"
#include "cli/query/series.h"

void report_text(struct report *report);
/* The default report, on one screen. */
void report_brief_text(struct report *report);
/* The part after the summary; as text or JSON members. */
void report_body_text(struct report *report);
void report_body_json(struct json *json, struct report *report);
void report_json(struct report *report);
void report_csv(struct report *report);

/* Collects rows by a measure, at most `limit` (0: all): one table at a time; to
 * be freed by query_rows_free. */
void report_collect(struct report *report, enum measure order, uint64_t limit,
		    struct query_rows *rows);
/* The same in two steps: r->query may be changed in between. */
void report_source(struct report *report, enum measure order, uint64_t limit);
void report_collect_query(struct report *report, struct query_rows *rows);
/* The measure of --sort; else `other`. */
enum measure report_order(const struct report *report, enum measure other);
/* How many of `count` rows to show: --top, else `few` (0: all). */
uint64_t report_top(const struct report *report, uint64_t few);
size_t report_shown(const struct report *report, size_t count, uint64_t few);
/* Loads the stack of a row, or a part of one: of a context or a profile's
 * node. */
void report_load(struct report *report, uint32_t node);
/* Loads the stack of a context, even if rows are of a profile. */
void report_load_context(struct report *report, uint32_t node);

/* ---- sections, and members of the JSON object ---- */

/* Each prints nothing if it has no data, unless noted. JSON functions are
 * listed with the member that they write. */

/* Results of --guard: writes outside of blocks, and double frees: "damages". */
void report_damages_text(struct report *report);
void report_damages_json(struct json *json, struct report *report);
/* Code whose blocks grow by realloc, step by step, and the cost of copying; for
 * a model with chains. "chains": for all blocks that pass the filters. */
void report_chains_text(struct report *report);
void report_chains_json(struct json *json, const struct report *report);
/* Live memory over the run, at some moments; for a model with a timeline.
 * "timeline": not with stack filters, which a timeline cannot apply. */
void report_timeline_text(const struct report *report);
void report_timeline_json(struct json *json, const struct report *report);
/* The live blocks, one by one: "rows". */
void report_blocks_text(struct report *report);
void report_blocks_json(struct json *json, struct report *report);
/* A tree of calls, from the outermost functions inward or from the sites
 * outward; the report's profile is folded. "rows": branches, each before its
 * children; CSV has a line for each, in the same order. */
void report_tree_text(struct report *report, enum measure key);
void report_tree_json(struct json *json, struct report *report,
		      enum measure key);
void report_tree_csv(struct csv *csv, struct report *report, enum measure key);
/* The rows over time (cli/query/series.h): a table of the largest rows, the
 * others and the whole. */
void report_series_text(struct report *report);
/* For the first `shown` rows, for JSON; to be freed by series_free. */
void report_series_follow(const struct report *report, struct query_rows *rows,
			  size_t shown, struct series *series);
/* An array of steps. */
void report_series_json(struct json *json, const char *name,
			const struct series_step *list,
			const struct series_axis *axis);
/* Members next to "rows": the others, and the whole. */
void report_series_rest_json(struct json *json, const struct series *series);
/* Which libraries lack symbols, and how to get them: one line on standard
 * error, if functions without a name were shown. Call it after the report. */
void report_nameless(const struct report *report);

#endif
