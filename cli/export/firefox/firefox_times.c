/*
 * firefox_times.c: see firefox_times.h. Called by the main thread.
 *
 * A counter is a list of changes. Readers ignore the first one, so it is 0, at
 * the start.
 */
#include "cli/export/firefox/firefox_times.h"

#include <stdlib.h>

#include "cli/base/grow.h"
#include "cli/model/stats/footprint.h"
#include "cli/model/stats/timeline.h"

#define PEAK "peak"
#define SNAPSHOT "snapshot"
enum { PHASE_INSTANT, PHASE_INTERVAL };

/* ---- counters ---- */

struct point {
	uint64_t ns, value, number;
};

struct points {
	struct point *list;
	size_t count, capacity;
};

/* Of a run of equal points, keep only the first and the last. */
static void add_point(struct points *points, uint64_t ns, uint64_t value,
		      uint64_t number)
{
	struct point *last = points->count > 1 ?
		&points->list[points->count - 1] : NULL;

	if (last != NULL && number == 0 && last->number == 0 &&
	    last->value == value && last[-1].value == value) {
		last->ns = ns;
		return;
	}
	GROW(points->list, points->count, points->capacity);
	points->list[points->count++] = (struct point){ ns, value, number };
}

/* A bucket's maximum is placed in its middle, since its time is unknown. The
 * global peak is placed at its exact time. */
static void add_bucket(struct points *points, const struct model *model,
		       const struct timeline *timeline, size_t i)
{
	const struct timeline_bucket *bucket = &timeline->buckets[i];
	uint64_t start = timeline_stamp(timeline, i);
	uint64_t end = timeline_stamp(timeline, i + 1);
	uint64_t before = points->list[points->count - 1].value;
	uint64_t high = start + (end - start) / 2;
	uint64_t number = bucket->allocations + bucket->frees;
	const struct totals *totals = model_totals(model);
	bool peak = bucket->live_bytes_max == totals->peak_bytes &&
		totals->peak_stamp - start < end - start;

	if (peak)
		high = totals->peak_stamp;
	if (peak || (bucket->live_bytes_max > before &&
		     bucket->live_bytes_max > bucket->live_bytes)) {
		add_point(points, model_since_start_ns(model, high),
			  bucket->live_bytes_max, number);
		number = 0;
	}
	add_point(points, model_since_start_ns(model, end),
		  bucket->live_bytes, number);
}

static void write_tooltip(struct json *json, const char *source,
			  const char *unit, const char *label)
{
	json_object(json, NULL);
	json_string(json, "type", "value");
	json_string(json, "source", source);
	json_object(json, "format");
	json_string(json, "unit", unit);
	json_end_object(json);
	json_string(json, "label", label);
	json_end_object(json);
}

static void write_display(struct json *json, const char *label,
			  const char *color, unsigned weight, bool numbers)
{
	json_object(json, "display");
	json_string(json, "graphType", "line-accumulated");
	json_string(json, "unit", "bytes");
	json_string(json, "color", color);
	json_string(json, "markerSchemaLocation", "timeline-memory");
	json_uint(json, "sortWeight", weight);
	json_string(json, "label", label);
	json_array(json, "tooltipRows");
	write_tooltip(json, "accumulated", "bytes", label);
	write_tooltip(json, "count-range", "bytes",
		      "range in the graph");
	if (numbers)
		write_tooltip(json, "sample-number", "number",
			      "allocations and frees since the previous point");
	json_end_array(json);
	json_end_object(json);
}

static void write_samples(struct json *json, const struct points *points,
			  bool numbers)
{
	json_object(json, "samples");
	json_array(json, "time");
	for (size_t i = 0; i < points->count; i++)
		json_decimal(json, NULL, points->list[i].ns,
			     FIREFOX_MS_DECIMALS);
	json_end_array(json);
	json_array(json, "count");
	for (size_t i = 0; i < points->count; i++)
		json_int(json, NULL, (int64_t)(points->list[i].value -
			 (i ? points->list[i - 1].value : 0)));
	json_end_array(json);
	if (numbers) {
		json_array(json, "number");
		for (size_t i = 0; i < points->count; i++)
			json_uint(json, NULL, points->list[i].number);
		json_end_array(json);
	}
	json_uint(json, "length", points->count);
	json_end_object(json);
}

static void begin_counter(struct json *json, const char *name,
			  const char *description, const char *pid)
{
	json_object(json, NULL);
	json_string(json, "name", name);
	json_string(json, "category", "Memory");
	json_string(json, "description", description);
	json_string(json, "pid", pid);
	json_uint(json, "mainThreadIndex", 0);
}

static void write_live(const struct export *export,
		       const struct timeline *timeline, const char *pid,
		       struct json *json)
{
	struct points points = { 0 };

	add_point(&points, 0, 0, 0);
	for (size_t i = 0; i < timeline->count; i++)
		add_bucket(&points, export->model, timeline, i);
	begin_counter(json, "live", "Bytes in live blocks", pid);
	write_display(json, "Live heap", "orange", 20, true);
	write_samples(json, &points, true);
	json_end_object(json);
	free(points.list);
}

static void write_resident(const struct export *export, const char *pid,
			   struct json *json)
{
	const struct timeline *timeline = model_timeline(export->model);
	uint64_t (*rows)[GT_USAGE_VALUES] =
		grow_zeroed(timeline->count, sizeof(*rows));
	struct points points = { 0 };

	timeline_memory(timeline, model_footprint(export->model), rows);
	add_point(&points, 0, 0, 0);
	for (size_t i = 0; i < timeline->count; i++)
		if (rows[i][GT_USAGE_RSS] > 0)
			add_point(&points, model_since_start_ns(
				export->model, timeline_stamp(timeline, i + 1)),
				rows[i][GT_USAGE_RSS], 0);
	begin_counter(json, "RSS", "Resident memory of the process, including "
		      "the recorder's", pid);
	write_display(json, "Resident memory", "blue", 21, false);
	write_samples(json, &points, false);
	json_end_object(json);
	free(points.list);
	free(rows);
}

void firefox_write_counters(const struct export *export,
			    const struct timeline *live, const char *pid,
			    struct json *json)
{
	json_array(json, "counters");
	if (live->count > 0)
		write_live(export, live, pid, json);
	if (model_timeline(export->model)->count > 0 &&
	    model_footprint(export->model)->point_count > 0)
		write_resident(export, pid, json);
	json_end_array(json);
}

/* ---- markers ---- */

static uint64_t ns_of(const struct export *export, uint64_t stamp)
{
	return model_since_start_ns(export->model, stamp);
}

static void write_data(const struct export *export, struct json *json)
{
	const struct totals *totals = model_totals(export->model);
	const struct footprint *footprint = model_footprint(export->model);

	json_array(json, "data");
	json_object(json, NULL);
	json_string(json, "type", PEAK);
	json_uint(json, "bytes", totals->peak_bytes);
	json_uint(json, "blocks", totals->peak_blocks);
	json_end_object(json);
	for (size_t i = 0; i < footprint->snapshot_count; i++) {
		json_object(json, NULL);
		json_string(json, "type", SNAPSHOT);
		json_string(json, "label", footprint->snapshots[i].name);
		json_end_object(json);
	}
	json_end_array(json);
}

static void write_times(const struct export *export, struct json *json,
			bool ends)
{
	const struct footprint *footprint = model_footprint(export->model);
	const struct totals *totals = model_totals(export->model);

	json_array(json, ends ? "endTime" : "startTime");
	if (ends)
		json_string(json, NULL, NULL);
	else
		json_decimal(json, NULL,
			     ns_of(export, totals->peak_stamp),
			     FIREFOX_MS_DECIMALS);
	for (size_t i = 0; i < footprint->snapshot_count; i++) {
		const struct trace_snapshot *said =
			&footprint->snapshots[i].said;
		uint64_t begin = ns_of(export, said->begin);
		uint64_t end = ns_of(export, said->end);

		json_decimal(json, NULL, ends && end > begin ? end : begin,
			     FIREFOX_MS_DECIMALS);
	}
	json_end_array(json);
}

void firefox_write_markers(const struct export *export,
			   struct firefox_tables *tables, struct json *json)
{
	size_t snapshots = model_footprint(export->model)->snapshot_count;

	json_object(json, "markers");
	write_data(export, json);
	write_times(export, json, false);
	write_times(export, json, true);
	json_array(json, "name");
	for (size_t i = 0; i <= snapshots; i++)
		json_uint(json, NULL, firefox_text(tables, i ? SNAPSHOT :
						   PEAK));
	json_end_array(json);
	json_array(json, "phase");
	for (size_t i = 0; i <= snapshots; i++)
		json_uint(json, NULL, i ? PHASE_INTERVAL : PHASE_INSTANT);
	json_end_array(json);
	json_array(json, "category");
	for (size_t i = 0; i <= snapshots; i++)
		json_uint(json, NULL, FIREFOX_OTHER);
	json_end_array(json);
	json_uint(json, "length", snapshots + 1);
	json_end_object(json);
}

static void write_field(struct json *json, const char *key, const char *label,
			const char *format)
{
	json_object(json, NULL);
	json_string(json, "key", key);
	json_string(json, "label", label);
	json_string(json, "format", format);
	json_end_object(json);
}

static void begin_schema(struct json *json, const char *name,
			 const char *label)
{
	static const char *const places[] = { "marker-chart", "marker-table",
					      "timeline-memory" };

	json_object(json, NULL);
	json_string(json, "name", name);
	json_string(json, "tableLabel", label);
	json_string(json, "chartLabel", label);
	json_array(json, "display");
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		json_string(json, NULL, places[i]);
	json_end_array(json);
	json_array(json, "fields");
}

void firefox_write_marker_schema(struct json *json)
{
	json_array(json, "markerSchema");
	begin_schema(json, PEAK, "{marker.data.bytes}");
	write_field(json, "bytes", "Live bytes", "bytes");
	write_field(json, "blocks", "Live blocks", "integer");
	json_end_array(json);
	json_end_object(json);
	begin_schema(json, SNAPSHOT, "{marker.data.label}");
	write_field(json, "label", "Name", "string");
	json_end_array(json);
	json_end_object(json);
	json_end_array(json);
}
