/*
 * firefox.c: the Firefox Profiler's own ("processed") format, version 63, for
 * profiler.firefox.com and profiler-cli.
 *
 *	meta, libs, shared	shared by all threads: firefox_tables.h
 *	threads	 the program	native allocations, each with the free of the
 *				same memoryAddress, over time
 *				(firefox_rows.h); with --threads one for each
 *				thread. Markers, on the first
 *		 a thread for each other cost, as the reader's own importer
 *		 for DHAT makes them: live, live at
 *		 the peak, allocations, temporary allocations
 *	counters		live and resident memory over time
 *
 * Readers drop events at or after the end of the recording, so the end is
 * written a little later. Called by the main thread.
 */
#include "cli/export/exporters.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "cli/base/status.h"
#include "cli/base/text/json.h"
#include "cli/base/text/quantity.h"
#include "cli/export/firefox/firefox_rows.h"
#include "cli/export/firefox/firefox_tables.h"
#include "cli/export/firefox/firefox_times.h"
#include "cli/model/core/threads.h"

#define VERSION 63		/* of the processed format */
#define GECKO_VERSION 31	/* of the unprocessed format it corresponds
				 * to */
#define END_NS 1000		/* after the last event */

struct writing {
	struct export *export;
	struct firefox_tables tables;
	struct firefox_rows rows;
	struct firefox_row *peak;	/* a row for each context */
	size_t peak_count, peak_capacity;
	uint64_t end_ns;
	size_t of_events;	/* number of threads with events */
	size_t threads;		/* written so far */
	struct json json;
	char pid[24];
	const char *name;	/* program name */
};

/* ---- threads: common parts ---- */

static void write_ns(struct json *json, const char *key, uint64_t ns)
{
	json_decimal(json, key, ns, FIREFOX_MS_DECIMALS);
}

static void write_empty(struct json *json, const char *const *keys)
{
	for (; *keys != NULL; keys++) {
		json_array(json, *keys);
		json_end_array(json);
	}
	json_uint(json, "length", 0);
	json_end_object(json);
}

static void write_no_samples(struct json *json)
{
	static const char *const keys[] = { "stack", "time", NULL };

	json_object(json, "samples");
	json_string(json, "weight", NULL);
	json_string(json, "weightType", "samples");
	write_empty(json, keys);
}

static void write_no_markers(struct json *json)
{
	static const char *const keys[] = { "data", "name", "startTime",
					    "endTime", "phase", "category",
					    NULL };

	json_object(json, "markers");
	write_empty(json, keys);
}

static void begin_thread(struct writing *w, const char *name)
{
	struct json *json = &w->json;

	json_object(json, NULL);
	json_string(json, "processType", "default");
	json_string(json, "processName", w->name);
	json_uint(json, "processStartupTime", 0);
	if (model_is_being_written(w->export->model))
		json_string(json, "processShutdownTime", NULL);
	else
		write_ns(json, "processShutdownTime", w->end_ns);
	json_uint(json, "registerTime", 0);
	json_string(json, "unregisterTime", NULL);
	json_array(json, "pausedRanges");
	json_end_array(json);
	json_string(json, "name", name);
	json_bool(json, "isMainThread", w->threads++ == 0);
	json_string(json, "pid", w->pid);
}

/* ---- rows ---- */

/* The rows of a list whose value is not 0. */
struct view {
	const struct firefox_row *list;
	size_t count;
	uint64_t (*value)(const struct firefox_row *row);
	bool balanced;		/* includes frees */
};

static uint64_t bytes_of(const struct firefox_row *row)
{
	return row->bytes;
}

static uint64_t live_of(const struct firefox_row *row)
{
	return row->lives ? row->bytes : 0;
}

static uint64_t blocks_of(const struct firefox_row *row)
{
	return row->ends ? 0 : row->blocks;
}

static uint64_t temporary_of(const struct firefox_row *row)
{
	return row->ends ? 0 : row->temporary;
}

/* A free has no stack, since it is not recorded: readers take that of the
 * allocation with the same address. */
static void write_stack(struct writing *w, const struct firefox_row *row)
{
	uint32_t stack = row->ends ? FIREFOX_NONE :
		firefox_stack(&w->tables, row->node);

	if (stack == FIREFOX_NONE)
		json_string(&w->json, NULL, NULL);
	else
		json_uint(&w->json, NULL, stack);
}

static void write_time(struct writing *w, const struct firefox_row *row)
{
	json_decimal(&w->json, NULL, row->ns, FIREFOX_MS_DECIMALS);
}

static void write_address(struct writing *w, const struct firefox_row *row)
{
	json_uint(&w->json, NULL, row->id);
}

static uint64_t tid_of(const struct writing *w, uint32_t thread)
{
	uint32_t tid = model_thread(w->export->model, thread)->tid;

	return tid != 0 ? tid : model_number(w->export->model, GT_INFO, "pid",
					     0);
}

static void write_tid(struct writing *w, const struct firefox_row *row)
{
	json_uint(&w->json, NULL, tid_of(w, row->thread));
}

static size_t write_column(struct writing *w, const char *name,
			   const struct view *view,
			   void (*write)(struct writing *w,
					 const struct firefox_row *row))
{
	size_t count = 0;

	json_array(&w->json, name);
	for (size_t i = 0; i < view->count; i++) {
		const struct firefox_row *row = &view->list[i];
		uint64_t value = view->value(row);

		if (value == 0)
			continue;
		count++;
		if (write != NULL)
			write(w, row);
		else if (row->ends)
			json_int(&w->json, NULL, -(int64_t)value);
		else
			json_uint(&w->json, NULL, value);
	}
	json_end_array(&w->json);
	return count;
}

static void write_rows(struct writing *w, const char *name,
		       const char *weight_type, const struct view *view)
{
	size_t count;

	json_object(&w->json, name);
	write_column(w, "time", view, write_time);
	write_column(w, "stack", view, write_stack);
	if (view->balanced) {
		write_column(w, "memoryAddress", view, write_address);
		write_column(w, "threadId", view, write_tid);
	}
	count = write_column(w, "weight", view, NULL);
	json_string(&w->json, "weightType", weight_type);
	json_uint(&w->json, "length", count);
	json_end_object(&w->json);
}

/* ---- threads ---- */

static void write_events(struct writing *w, size_t first, size_t end)
{
	const struct view view = { w->rows.list + first, end - first, bytes_of,
				   true };
	const struct model *model = w->export->model;
	uint32_t thread = first < w->rows.count ? view.list->thread : 0;
	const char *name = threads_name(model_thread(model, thread));
	struct json *json = &w->json;
	bool is_first = w->threads == 0;

	begin_thread(w, w->export->threads && name[0] ? name : w->name);
	json_uint(json, "tid", tid_of(w, thread));
	write_no_samples(json);
	write_rows(w, "nativeAllocations", "bytes", &view);
	if (is_first)
		firefox_write_markers(w->export, &w->tables, json);
	else
		write_no_markers(json);
	json_end_object(json);
}

/* One thread for each thread that has rows. */
static void write_all_events(struct writing *w)
{
	size_t first = 0, end;

	do {
		for (end = first; end < w->rows.count &&
		     w->rows.list[end].thread == w->rows.list[first].thread;)
			end++;
		write_events(w, first, end);
		first = end;
	} while (first < w->rows.count);
}

/* In the order of their threads in the profile. */
static const struct cost {
	enum measure cost;
	uint64_t (*value)(const struct firefox_row *row);
} costs[] = {
	{ MEASURE_LIVE, live_of },
	{ MEASURE_PEAK, bytes_of },
	{ MEASURE_COUNT, blocks_of },
	{ MEASURE_TEMPORARY, temporary_of },
};
#define COSTS (sizeof(costs) / sizeof(costs[0]))

static void write_cost(struct writing *w, const struct cost *cost)
{
	bool peak = cost->cost == MEASURE_PEAK;
	bool bytes = measure_kinds[cost->cost].unit == QUANTITY_BYTES;
	const char *name = measure_kinds[cost->cost].label;
	const struct view view = { peak ? w->peak : w->rows.list,
				   peak ? w->peak_count : w->rows.count,
				   cost->value, false };

	begin_thread(w, name);
	json_string(&w->json, "tid", name);
	if (bytes) {
		write_no_samples(&w->json);
		write_rows(w, "nativeAllocations", "bytes", &view);
	} else {
		write_rows(w, "samples", "samples", &view);
	}
	write_no_markers(&w->json);
	json_end_object(&w->json);
}

static void write_threads(struct writing *w)
{
	json_array(&w->json, "threads");
	write_all_events(w);
	firefox_rows_by_time(&w->rows);
	for (size_t i = 0; i < COSTS; i++)
		write_cost(w, &costs[i]);
	json_end_array(&w->json);
}

/* ---- meta ---- */

static void write_categories(struct json *json)
{
	static const struct { const char *name, *color; } list[] = {
		[FIREFOX_OTHER] = { "Other", "grey" },
		[FIREFOX_PROGRAM] = { "Program", "blue" },
		[FIREFOX_LIBRARIES] = { "Libraries", "green" },
		[FIREFOX_ALLOCATORS] = { "Allocators", "orange" },
	};

	json_array(json, "categories");
	for (size_t i = 0; i < FIREFOX_CATEGORIES; i++) {
		json_object(json, NULL);
		json_string(json, "name", list[i].name);
		json_string(json, "color", list[i].color);
		json_array(json, "subcategories");
		json_string(json, NULL, "Other");
		json_end_array(json);
		json_end_object(json);
	}
	json_end_array(json);
}

static void write_entry(struct json *json, const char *label,
			const char *value)
{
	json_object(json, NULL);
	json_string(json, "label", label);
	json_string(json, "format", "string");
	json_string(json, "value", value);
	json_end_object(json);
}

static void write_about(struct writing *w)
{
	const char *filters = filter_text(w->export->query->filter);
	const struct model *model = w->export->model;
	struct json *json = &w->json;

	json_array(json, "extra");
	json_object(json, NULL);
	json_string(json, "label", "gnomon");
	json_array(json, "entries");
	write_entry(json, "Version", GNOMON_VERSION);
	if (filters[0] != 0)
		write_entry(json, "Filters", filters + 1);
	if (model_is_sampled(model))
		write_entry(json, "Estimates from a sample: mean bytes between "
			    "samples", SIZE_TEXT(model_sample_mean(model)));
	write_entry(json, "Resolution of allocation times",
		    w->rows.span_ns == UINT64_MAX ?
		    "none: there are only sums for each stack" :
		    TIME_TEXT(w->rows.span_ns));
	json_end_array(json);
	json_end_object(json);
	json_end_array(json);
}

/* Select the thread of --cost; show all threads in this order. */
static void write_selection(struct writing *w)
{
	struct json *json = &w->json;
	size_t shown = 0;

	for (size_t i = 0; i < COSTS; i++)
		if (costs[i].cost == w->export->cost)
			shown = w->of_events + i;
	json_array(json, "initialSelectedThreads");
	json_uint(json, NULL, shown);
	json_end_array(json);
	json_array(json, "initialVisibleThreads");
	for (size_t i = 0; i < w->of_events + COSTS; i++)
		json_uint(json, NULL, i);
	json_end_array(json);
	json_bool(json, "keepProfileThreadOrder", true);
}

static void write_command(struct writing *w)
{
	LOCAL_BUFFER text = { 0 };

	model_command(w->export->model, &text);
	if (text.size > 0)
		json_string(&w->json, "arguments", text.data);
}

static void write_meta(struct writing *w)
{
	const struct model *model = w->export->model;
	struct json *json = &w->json;

	json_object(json, "meta");
	json_uint(json, "version", GECKO_VERSION);
	json_uint(json, "preprocessedProfileVersion", VERSION);
	json_string(json, "product", w->name);
	json_string(json, "importedFrom", "gnomon " GNOMON_VERSION);
	json_uint(json, "interval", 1);
	json_decimal(json, "startTime",
		     model_number(model, GT_INFO, "start_realtime_ns",
				  model_first_realtime_ns(model)),
		     FIREFOX_MS_DECIMALS);
	json_uint(json, "profilingStartTime", 0);
	write_ns(json, "profilingEndTime", w->end_ns);
	json_uint(json, "processType", 0);
	json_uint(json, "stackwalk", 1);
	json_string(json, "platform", "Linux");
	/* otherwise readers send the list of libraries to symbol servers */
	json_bool(json, "symbolicated", true);
	json_bool(json, "usesOnlyOneStackType", true);
	json_bool(json, "sourceCodeIsNotOnSearchfox", true);
	write_command(w);
	write_categories(json);
	firefox_write_marker_schema(json);
	write_selection(w);
	write_about(w);
	json_end_object(json);
}

/* ---- the profile ---- */

static void add_peak(void *owner, uint32_t node, uint32_t part,
		     const struct figures *figures)
{
	struct writing *w = owner;

	(void)part;
	if (figures->peak_bytes == 0)
		return;
	GROW(w->peak, w->peak_count, w->peak_capacity);
	w->peak[w->peak_count++] = (struct firefox_row){
		.ns = model_since_start_ns(
			w->export->model,
			model_totals(w->export->model)->peak_stamp),
		.node = node,
		.bytes = figures->peak_bytes,
	};
}

static void prepare(struct writing *w)
{
	const struct model *model = w->export->model;
	const struct firefox_rows *rows = &w->rows;
	const char *program = export_program(model);

	w->name = program != NULL && program[0] != 0 ? program : "unknown";
	snprintf(w->pid, sizeof(w->pid), "%" PRIu64,
		 model_number(model, GT_INFO, "pid", 0));
	w->end_ns = model_duration_ns(model);
	w->of_events = 1;
	for (size_t i = 0; i < rows->count; i++) {
		if (rows->list[i].ns > w->end_ns)
			w->end_ns = rows->list[i].ns;
		w->of_events += i > 0 && rows->list[i].thread !=
			rows->list[i - 1].thread;
	}
	w->end_ns += END_NS;
	export_contexts(w->export, add_peak, w);
}

/* Without events, the timeline of all blocks, unless stacks are filtered. */
static const struct timeline *live_over_time(const struct writing *w)
{
	const struct export *export = w->export;

	return w->rows.span_ns == UINT64_MAX && export->keep == NULL ?
		model_timeline(export->model) : &w->rows.timeline;
}

static int write_firefox(struct export *export)
{
	struct writing *w = grow_zeroed(1, sizeof(*w));
	int status;

	w->export = export;
	w->json.out = export->out;
	status = firefox_rows_collect(&w->rows, export);
	if (status != EXIT_NOTHING) {
		prepare(w);
		firefox_tables_init(&w->tables, export->frames);
		json_object(&w->json, NULL);
		write_meta(w);
		write_threads(w);
		firefox_write_counters(export, live_over_time(w), w->pid,
				       &w->json);
		firefox_write_libs(&w->tables, &w->json);
		firefox_write_shared(&w->tables, &w->json);
		json_end_object(&w->json);
		firefox_tables_free(&w->tables);
	}
	firefox_rows_free(&w->rows);
	free(w->peak);
	free(w);
	return status;
}

const struct exporter export_firefox = {
	.name = "firefox",
	.what = "Firefox Profiler JSON: allocations and frees over time",
	.can_split_threads = true,
	.wants = MODEL_WANT_TIMELINE,
	.write = write_firefox,
};
