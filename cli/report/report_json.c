/*
 * report_json.c: a report as one JSON object. Keys are only ever added, because
 * tools rely on the names. Called by the main thread.
 */
#include <string.h>

#include "cli/base/progress.h"
#include "cli/base/text/json.h"
#include "cli/report/findings.h"
#include "cli/report/report.h"
#include "cli/report/report_detail.h"
#include "cli/report/report_freed.h"
#include "cli/report/report_pages.h"

/* Rows without --top: more than people read, and few enough for programs with a
 * million contexts. */
#define DEFAULT_ROWS 1000
#define PAGES_SNAPSHOTS 64	/* live blocks are sorted for each */

/* The values of a row's keys. */
static void put_subject(struct json *json, struct report *r,
			const struct query_rows *rows,
			const struct query_row *row)
{
	for (unsigned i = 0; i < rows->query->key_count; i++) {
		const struct query_key *key = rows->query->keys[i];
		struct query_value value;

		if (key->members != NULL) {
			const struct members to = members_of_json(json);

			query_row_value(rows, row, i, &value);
			if (key->inclusive)
				json_object(json, "within");
			key->members(&value, &to);
			if (key->inclusive)
				json_end_object(json);
			continue;
		}
		if (key->of == QUERY_OF_STACK && (r->profile == NULL || r->of_contexts))
			json_uint(json, "context", row->node);
		/* Inside the site, the stacks have nothing in common. */
		report_load(r, row->node);
		report_json_stack(json, &r->stack, key->of == QUERY_OF_SITE ?
				  r->stack.site : 0, r->once);
	}
}

static void put_figures(struct json *json, const struct report *r,
			const struct figures *figures)
{
	report_json_figures(json, figures, r->end_ns,
			    !r->options->no_own_peaks);
}

/* Measures that include everything its functions called. */
static void put_called(struct json *json, const struct report *r,
		       const struct query_rows *rows,
		       const struct query_row *row)
{
	struct figures sum;
	bool own;

	if (!query_row_called(rows, row, &sum))
		return;
	own = sum.count == row->figures.count;
	if (own) {	/* it called no allocating function */
		sum.own_peak_bytes = row->figures.own_peak_bytes;
		sum.own_peak_blocks = row->figures.own_peak_blocks;
		sum.own_peak_ns = row->figures.own_peak_ns;
	}
	json_object(json, "inclusive");
	put_figures(json, r, &sum);
	if (!r->options->no_own_peaks)
		report_json_bound(json, !own || (row->contexts > 1 &&
						 !rows->exact));
	json_end_object(json);
}

/* Further parts of rows. */
struct extras {
	struct report_detail detail;
	struct series series;
	const struct report_pages *pages;	/* NULL: none */
};

static void put_row(struct json *json, struct report *r,
		    const struct query_rows *rows, size_t number,
		    const struct extras *extras)
{
	const struct series *series = &extras->series;
	const struct query_row *row = &rows->list[number];

	json_object(json, NULL);
	put_figures(json, r, &row->figures);
	if (rows->grouped)
		json_uint(json, "stacks", row->contexts);
	if (!r->options->no_own_peaks)
		report_json_bound(json, row->contexts > 1 && !rows->exact);
	put_subject(json, r, rows, row);
	put_called(json, r, rows, row);
	report_detail_row(json, &extras->detail, number);
	if (extras->pages != NULL)
		report_pages_row_json(json, extras->pages, number);
	if (number < series->shown)
		report_series_json(json, "timeline",
				   series_of(series, number), &series->axis);
	json_end_object(json);
}

/* Prints the first rows, and the timelines next to them. */
static void put_list(struct json *json, struct report *r,
		     struct query_rows *rows, struct extras *extras)
{
	size_t shown = report_shown(r, rows->count, DEFAULT_ROWS);

	report_detail_begin(&extras->detail, r, rows);
	if (r->options->timeline)
		report_series_follow(r, rows, rows->count, &extras->series);
	json_array(json, "rows");
	progress_begin("looking up symbols", rows->count);
	for (size_t i = 0; i < shown; i++) {
		put_row(json, r, rows, i, extras);
		progress_update(i);
	}
	progress_end();
	json_end_array(json);
	if (r->options->timeline)
		report_series_rest_json(json, &extras->series);
	series_free(&extras->series);
	report_detail_end(&extras->detail);
}

static void put_rows(struct json *json, struct report *r, enum measure key)
{
	struct extras extras = { 0 };
	struct query_rows rows;

	report_collect(r, key, report_top(r, DEFAULT_ROWS), &rows);
	put_list(json, r, &rows, &extras);
	query_rows_free(&rows);
}

/* Rows by the pages that they keep. */
static void put_pages(struct json *json, struct report *r)
{
	struct report_pages found;
	struct extras extras = { .pages = &found };

	report_pages_find(r, PAGES_SNAPSHOTS, &found);
	report_pages_json(json, r, &found);
	put_list(json, r, &found.rows, &extras);
	report_pages_free(&found);
}

void report_body_json(struct json *json, struct report *r)
{
	enum measure key = report_order(r, MEASURE_LIVE);
	struct frame_table once = { 0 };

	if (r->model != NULL)
		report_damages_json(json, r);
	if (r->options->frame_table)
		r->once = &once;
	if (r->options->sizes)
		report_sizes_json(json, r);
	if (r->options->sizes && r->model != NULL) {
		report_chains_json(json, r);
		report_timeline_json(json, r);
	}
	if (r->options->tree != REPORT_TREE_NONE)
		report_tree_json(json, r, key);
	else if (r->options->blocks)
		report_blocks_json(json, r);
	else if (r->options->pages)
		put_pages(json, r);
	else
		put_rows(json, r, key);
	report_freed_json(json, r);
	if (r->once != NULL)
		frame_table_json(json, r->once);
	r->once = NULL;
	frame_table_free(&once);
}

static void put_findings(struct json *json, struct report *r)
{
	struct findings findings;

	findings_find(r, &findings);
	findings_json(json, &findings);
	findings_free(&findings);
}

void report_json(struct report *r)
{
	struct json json = { .out = r->out };

	json_object(&json, NULL);
	json_uint(&json, "schema", 1);
	report_json_summary(&json, r);
	if (!r->options->chosen)
		put_findings(&json, r);
	report_body_json(&json, r);
	json_end_object(&json);
}
