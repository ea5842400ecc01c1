/*
 * graph_list.c: writes a graph's values as CSV and JSON. Called by the main
 * thread.
 */
#include "cli/graph/graph.h"

#include <inttypes.h>
#include <string.h>

#include "cli/base/text/json.h"
#include "cli/base/text/utf8.h"
#include "cli/command/print/report_coverage.h"

#define LINE_END "\r\n"		/* RFC 4180, 2. */

static const char *const kinds[] = {
	[GRAPH_ROW] = "row", [GRAPH_OTHERS] = "others", [GRAPH_TRACE] = "trace",
};

/* ---- CSV ---- */

static void put_text(FILE *out, const char *text)
{
	struct buffer utf8 = { 0 };

	utf8_add(&utf8, text);
	putc('"', out);
	for (const char *c = utf8.data; c != NULL && *c != 0; c++) {
		if (*c == '"')
			putc('"', out);
		putc(*c, out);
	}
	putc('"', out);
	buffer_free(&utf8);
}

static void put_name(void *owner, const char *name, uint64_t value)
{
	(void)value;
	fprintf(owner, ",%s", name);
}

static void put_value(void *owner, const char *name, uint64_t value)
{
	(void)name;
	fprintf(owner, ",%" PRIu64, value);
}

void graph_csv(const struct graph *graph, FILE *out)
{
	const struct series_axis *axis = &graph->axis;

	fputs("series,kind,begin_ns,end_ns", out);
	series_each(&(struct series_step){ 0 }, put_name, out);
	fputs(LINE_END, out);
	for (size_t s = 0; s < graph->count; s++) {
		const struct graph_series *series = &graph->list[s];

		for (size_t i = series->from; i < series->to; i++) {
			put_text(out, series->name);
			fprintf(out, ",%s,%" PRIu64 ",%" PRIu64,
				kinds[series->of], series_begin_ns(axis, i),
				series_begin_ns(axis, i + 1));
			series_each(&series->steps[i], put_value, out);
			fputs(LINE_END, out);
		}
	}
}

/* ---- JSON ---- */

/* Selects the measure with this number. */
struct column {
	struct json *json;
	unsigned number, at;
	const char *name;	/* name of the measure */
	uint64_t value;
};

static void pick(void *owner, const char *name, uint64_t value)
{
	struct column *column = owner;

	if (column->at++ != column->number)
		return;
	column->name = name;
	column->value = value;
}

/* False: no more measures. */
static bool put_column(struct json *json, const struct series_step *steps,
		       size_t from, size_t to, unsigned number)
{
	struct column column = { .number = number };

	series_each(steps, pick, &column);
	if (column.name == NULL)
		return false;
	json_array(json, column.name);
	for (size_t i = from; i < to; i++) {
		column.at = 0;
		series_each(&steps[i], pick, &column);
		json_uint(json, NULL, column.value);
	}
	json_end_array(json);
	return true;
}

static void put_series(struct json *json, const char *name, const char *kind,
		       const struct series_step *steps, size_t from, size_t to)
{
	json_string(json, "name", name);
	json_string(json, "kind", kind);
	json_uint(json, "from", from);
	for (unsigned i = 0; put_column(json, steps, from, to, i); i++)
		;
}

void graph_json(const struct graph *graph, FILE *out)
{
	struct json json = { .out = out };
	size_t steps = graph->axis.steps;

	json_object(&json, NULL);
	json_uint(&json, "schema", 1);
	json_string(&json, "title", graph->title.data);
	json_string(&json, "about", graph->about.data);
	json_string(&json, "cost", measure_kinds[graph->cost].name);
	json_bool(&json, "adds_up", graph->adds_up);
	json_bool(&json, "stacked", graph->stacked);
	json_bool(&json, "estimated", graph->coverage.sample_mean > 0);
	report_coverage_json(&json, &graph->coverage);
	json_uint(&json, "steps", steps);
	json_uint(&json, "end_ns", graph->axis.end_ns);
	json_array(&json, "series");
	for (size_t i = 0; i < graph->count; i++) {
		const struct graph_series *series = &graph->list[i];

		json_object(&json, NULL);
		put_series(&json, series->name, kinds[series->of],
			   series->steps, series->from, series->to);
		json_end_object(&json);
	}
	json_end_array(&json);
	if (graph->whole != NULL) {
		json_object(&json, "all");
		put_series(&json, "all", "all", graph->whole, 0, steps);
		json_end_object(&json);
	}
	json_end_object(&json);
}
