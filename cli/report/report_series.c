/*
 * report_series.c: see report.h. In the table a step is a line, and a row of
 * the report is a numbered column; the names are printed before.
 */
#include "cli/report/report.h"

#include "cli/base/text/quantity.h"
#include "cli/query/row_name.h"

#define TEXT_STEPS 16
#define TEXT_ROWS 4		/* columns, besides "others" and "all" */
#define COLUMN 11
#define NAME_WIDTH 56		/* of a name before the table */
#define JSON_STEPS 64

static void follow(const struct report *r, struct query_rows *rows,
		   size_t shown, size_t steps, struct series *series)
{
	const struct series_axis axis = {
		.end_ns = r->end_ns,
		.steps = r->options->steps ? (size_t)r->options->steps : steps,
	};

	series_follow(rows, shown, &axis, series);
}

/* ---- JSON ---- */

void report_series_follow(const struct report *r, struct query_rows *rows,
			  size_t shown, struct series *series)
{
	follow(r, rows, shown, JSON_STEPS, series);
}

void report_series_json(struct json *json, const char *name,
			const struct series_step *list,
			const struct series_axis *axis)
{
	const struct members to = members_of_json(json);

	json_array(json, name);
	for (size_t i = 0; i < axis->steps; i++) {
		json_object(json, NULL);
		json_uint(json, "time_ns", series_begin_ns(axis, i));
		series_each(&list[i], to.number, to.owner);
		json_end_object(json);
	}
	json_end_array(json);
}

void report_series_rest_json(struct json *json, const struct series *series)
{
	json_uint(json, "timeline_step_ns",
		  series->axis.end_ns / series->axis.steps);
	report_series_json(json, "timeline_others", series_others(series),
			   &series->axis);
	report_series_json(json, "timeline_all", series_whole(series),
			   &series->axis);
}

/* ---- text ---- */

static const char *const meanings[] = {
	[MEASURE_LIVE] = "bytes live at the end of each",
	[MEASURE_PEAK] = "the most bytes that were live at once in each",
	[MEASURE_OWN_PEAK] = "the most bytes that were live at once in each",
	[MEASURE_TOTAL] = "bytes allocated in each",
	[MEASURE_COUNT] = "allocations in each",
	[MEASURE_TEMPORARY] = "temporary blocks that were freed in each",
};

static void put_value(const struct report *r, const struct series_step *step,
		      enum measure order)
{
	fprintf(r->out, "%*s", COLUMN, UNIT_TEXT(measure_kinds[order].unit,
						 series_value(step, order)));
}

static void put_table(const struct report *r, const struct series *series,
		      enum measure order)
{
	char number[24];

	fprintf(r->out, "\n  %8s%*s", "until", COLUMN, "all");
	for (size_t row = 0; row < series->shown; row++) {
		snprintf(number, sizeof(number), "%zu.", row + 1);
		fprintf(r->out, "%*s", COLUMN, number);
	}
	fprintf(r->out, "%*s\n", COLUMN, "others");
	for (size_t i = 0; i < series->axis.steps; i++) {
		fprintf(r->out, "  %8s",
			TIME_TEXT(series_begin_ns(&series->axis, i + 1)));
		fputs(r->style->share, r->out);
		put_value(r, &series_whole(series)[i], order);
		fputs(r->style->off, r->out);
		for (size_t row = 0; row <= series->shown; row++)
			put_value(r, &series_of(series, row)[i], order);
		putc('\n', r->out);
	}
}

static void put_names(const struct report *r, const struct query_rows *rows,
		      size_t shown)
{
	for (size_t row = 0; row < shown; row++) {
		LOCAL_BUFFER name = { 0 };

		query_row_name(rows, &rows->list[row], r->options->full_names,
			       NAME_WIDTH / rows->query->key_count, &name);
		fprintf(r->out, "%4zu. %s%s%s\n", row + 1, r->style->name,
			name.data, r->style->off);
	}
}

void report_series_text(struct report *r)
{
	size_t max = report_shown(r, TEXT_ROWS, TEXT_ROWS);
	struct query_rows rows;
	struct series series;
	size_t shown;

	/* Rows by peak: those live at the end may not be those live before. */
	report_collect(r, report_order(r, MEASURE_PEAK), max, &rows);
	shown = rows.nonzero < max ? rows.nonzero : max;
	follow(r, &rows, shown, TEXT_STEPS, &series);
	fprintf(r->out, "\n%sROWS OVER TIME%s: %s of %s steps%s%s\n\n",
		r->style->title, r->style->off,
		meanings[report_order(r, MEASURE_LIVE)],
		COUNT_TEXT(series.axis.steps),
		r->options->one_key ? "" : ";\nrows that held most at the peak",
		r->options->one_key || query_inclusive(&r->query) ? "" :
		" (--sort own-peak: at any time)");
	put_names(r, &rows, series.shown);
	if (series.shown < rows.nonzero)
		fprintf(r->out, "%4s  and %s more %s: see --json, or `gnomon "
			"graph`\n", "", COUNT_TEXT(rows.nonzero - series.shown),
			query_noun(&r->query, rows.nonzero - series.shown));
	put_table(r, &series, report_order(r, MEASURE_LIVE));
	series_free(&series);
	query_rows_free(&rows);
}
