/*
 * graph_gather.c: see graph.h: collects the series of a graph.
 */
#include "cli/graph/graph.h"

#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "cli/base/status.h"
#include "cli/base/text/quantity.h"
#include "cli/query/row_name.h"
#include "unwind/base/assertion.h"

/* Recordings are far apart if their total duration is less than a tenth of the
 * time from the first to the last. */
#define APART_FACTOR 10
#define NAME_WIDTH 60

const char *graph_meaning(enum measure cost)
{
	static const char *const meanings[] = {
		[MEASURE_LIVE] = "bytes live",
		[MEASURE_PEAK] = "bytes live, at most",
		[MEASURE_TOTAL] = "bytes allocated",
		[MEASURE_COUNT] = "allocations",
		[MEASURE_TEMPORARY] = "temporary blocks freed",
	};

	ASSERT(meanings[cost] != NULL);
	return meanings[cost];
}

bool graph_can_stack(const struct graph *graph)
{
	return graph->adds_up && graph->cost != MEASURE_PEAK;
}

static struct series_step *copy_of(const struct graph *graph,
				   const struct series_step *steps)
{
	struct series_step *copy = grow_resize(NULL, graph->axis.steps,
					       sizeof(*copy));

	memcpy(copy, steps, graph->axis.steps * sizeof(*copy));
	return copy;
}

/* Takes ownership of the name. */
static struct graph_series *add(struct graph *graph, char *name,
				enum graph_kind of,
				const struct series_step *steps)
{
	struct graph_series *series;

	GROW(graph->list, graph->count, graph->capacity);
	series = &graph->list[graph->count++];
	*series = (struct graph_series){
		.name = name, .of = of, .to = graph->axis.steps,
		.steps = copy_of(graph, steps),
	};
	return series;
}

/* ---- one trace ---- */

static bool has_any(const struct graph *graph, const struct series_step *steps)
{
	for (size_t i = 0; i < graph->axis.steps; i++)
		if (steps[i].live_blocks > 0 || steps[i].allocations > 0 ||
		    steps[i].frees > 0)
			return true;
	return false;
}

static void report_about(struct graph *graph, const struct query *query)
{
	const char *filters = filter_text(query->filter);
	struct buffer keys = { 0 };

	query_key_names(query, &keys);
	buffer_printf(&graph->about, "by %s", keys.data);
	if (filters[0] != 0)
		buffer_printf(&graph->about, ", of blocks with%s", filters);
	if (graph->coverage.sample_mean > 0)
		buffer_string(&graph->about, ", estimated from a sample");
	buffer_free(&keys);
}

static void add_rows(struct graph *graph, const struct graph_wanted *wanted,
		     const struct query_rows *rows,
		     const struct series *series)
{
	struct buffer others = { 0 };

	for (size_t i = 0; i < series->shown; i++) {
		struct buffer name = { 0 };

		query_row_name(rows, &rows->list[i], wanted->full_names,
			       NAME_WIDTH, &name);
		add(graph, name.data, GRAPH_ROW, series_of(series, i));
	}
	if (!has_any(graph, series_others(series)))
		return;
	buffer_string(&others, "others");
	if (rows->nonzero > series->shown)
		buffer_printf(&others, " (%s %s more)",
			      COUNT_TEXT(rows->nonzero - series->shown),
			      query_noun(rows->query, rows->nonzero -
				      series->shown));
	add(graph, others.data, GRAPH_OTHERS, series_others(series));
}

int graph_gather(struct graph *graph, const struct query *query,
		 const struct graph_wanted *wanted,
		 const struct query_source *source)
{
	struct query_rows rows;
	struct series series;
	size_t shown;
	int status;

	graph->axis = (struct series_axis){
		.end_ns = source->end_ns, .steps = wanted->steps,
	};
	query_rows_collect(query, source, &rows);
	shown = query->limit != 0 && query->limit < rows.nonzero ?
		query->limit : rows.nonzero;
	status = series_follow(&rows, shown, &graph->axis, &series);
	if (status != EXIT_NOTHING) {
		add_rows(graph, wanted, &rows, &series);
		graph->whole = copy_of(graph, series_whole(&series));
		report_about(graph, query);
	}
	series_free(&series);
	query_rows_free(&rows);
	return status;
}

/* ---- several traces ---- */

static uint64_t last_end(const struct graph_time *times, size_t count)
{
	uint64_t end = 0;

	for (size_t i = 0; i < count; i++)
		if (times[i].start_ns + times[i].duration_ns > end)
			end = times[i].start_ns + times[i].duration_ns;
	return end;
}

/* Whether the axis is wall-clock time: the recordings are close in time. */
static bool is_by_clock(const struct graph_time *times, size_t count,
			uint64_t first)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < count; i++) {
		if (times[i].start_ns == 0)
			return false;
		sum += times[i].duration_ns;
	}
	return (last_end(times, count) - first) / APART_FACTOR <= sum;
}

void graph_set_axis(struct graph *graph, struct graph_time *times,
		    size_t count, size_t steps)
{
	uint64_t first = UINT64_MAX;
	bool by_clock;

	for (size_t i = 0; i < count; i++)
		if (times[i].start_ns < first)
			first = times[i].start_ns;
	by_clock = is_by_clock(times, count, first);
	for (size_t i = 0; i < count; i++)
		times[i].start_ns = by_clock ? times[i].start_ns - first : 0;
	graph->axis = (struct series_axis){
		.end_ns = last_end(times, count), .steps = steps,
	};
	graph->adds_up = by_clock;
	buffer_string(&graph->about, by_clock ? "by the clock" :
		      "each from its own start");
}

/* The step that contains a moment. */
static size_t step_of(const struct series_axis *axis, uint64_t ns)
{
	size_t step = 0;

	while (step + 1 < axis->steps && series_begin_ns(axis, step + 1) <= ns)
		step++;
	return step;
}

int graph_add_trace(struct graph *graph, const struct query *query,
		    const struct query_source *source,
		    const struct graph_time *time)
{
	const struct series_axis axis = {
		.offset_ns = time->start_ns, .end_ns = graph->axis.end_ns,
		.steps = graph->axis.steps,
	};
	struct graph_series *added;
	struct buffer name = { 0 };
	struct query_rows rows;
	struct series series;
	int status;

	query_rows_collect(query, source, &rows);
	status = series_follow(&rows, 0, &axis, &series);
	if (status != EXIT_NOTHING) {
		export_title(&name, source->model, source->trace);
		added = add(graph, name.data, GRAPH_TRACE,
			    series_whole(&series));
		added->from = step_of(&axis, time->start_ns);
		added->to = step_of(&axis, time->start_ns + source->end_ns) + 1;
		for (size_t i = added->to; i < axis.steps; i++)
			added->steps[i] = (struct series_step){ 0 };
	}
	series_free(&series);
	query_rows_free(&rows);
	return status;
}

void graph_free(struct graph *graph)
{
	for (size_t i = 0; i < graph->count; i++) {
		free(graph->list[i].name);
		free(graph->list[i].steps);
	}
	free(graph->list);
	free(graph->whole);
	buffer_free(&graph->title);
	buffer_free(&graph->about);
}
