/*
 * report_json.c: a report as one JSON object. Keys are only ever added; tools
 * rely on the names. Called by the main thread.
 */
#include <stdlib.h>

#include "cli/base/json.h"
#include "cli/base/progress.h"
#include "cli/model/heap.h"
#include "cli/report.h"

/* Rows where --top does not say: more than people look at, and few enough for
 * programs with a million contexts. */
#define DEFAULT_ROWS 1000

/* Where the live blocks lie, and how much of their memory was not asked for. */
static void put_heap(struct json *json, const struct model *model)
{
	struct heap_share shares[HEAP_PARTS];

	heap_shares(model, shares);
	json_object(json, "live_heap");
	for (unsigned i = 0; i < HEAP_PARTS; i++) {
		json_object(json, heap_part_names[i]);
		json_uint(json, "blocks", shares[i].blocks);
		json_uint(json, "bytes", shares[i].bytes);
		if (i != HEAP_UNKNOWN)
			json_uint(json, "usable_bytes", shares[i].usable);
		json_end_object(json);
	}
	json_end_object(json);
}

static void put_summary(struct json *json, const struct model *model)
{
	const struct totals *totals = &model->totals;
	const char *program = model_fact(model, GT_INFO, "exe");
	const char *command = model_fact(model, GT_INFO, "command");
	struct buffer end = { 0 };

	json_object(json, "summary");
	json_uint(json, "allocations", totals->allocations);
	json_uint(json, "frees", totals->frees);
	json_uint(json, "total_bytes", totals->total_bytes);
	json_uint(json, "live_bytes", totals->live_bytes);
	json_uint(json, "live_blocks", totals->live_blocks);
	json_uint(json, "peak_bytes", totals->peak_bytes);
	json_uint(json, "peak_blocks", totals->peak_blocks);
	json_uint(json, "peak_time_ns",
		  totals->peak_bytes == 0 ? 0 :
		  model_since_start_ns(model, totals->peak_stamp));
	json_uint(json, "temporary", totals->temporary);
	json_uint(json, "dropped", model_dropped(model));
	json_uint(json, "unpaired", totals->unpaired);
	json_uint(json, "duration_ns", model_duration_ns(model));
	json_uint(json, "threads", model_thread_count(model));
	json_uint(json, "contexts", model->contexts.cost_count);
	json_bool(json, "estimated", false);
	put_heap(json, model);
	model_exit_text(model, &end);
	json_string(json, "exit", end.data);
	buffer_free(&end);
	json_uint(json, "repaired", totals->repaired);
	json_uint(json, "stopped", model_stopped(model));
	json_uint(json, "pid", model_number(model, GT_INFO, "pid", 0));
	json_string(json, "program", program ? program : "");
	json_string(json, "command", command ? command : "");
	json_bool(json, "complete", model->report.ended ||
		  model->report.being_written);
	report_memory_summary(json, model);
	json_end_object(json);
}

void report_json_frame(struct json *json, const struct frame *frame)
{
	json_object(json, NULL);
	json_string(json, "function", frame->function);
	json_string(json, "file", frame->file);
	json_uint(json, "line", frame->line);
	json_uint(json, "column", frame->column);
	json_string(json, "library", frame->library);
	json_bool(json, "inlined", frame->inlined);
	json_uint(json, "address", frame->address);
	json_uint(json, "module_offset", frame->module_offset);
	json_end_object(json);
}

static void put_row(struct json *json, struct frames *frames,
		    const struct row *row, bool by_site)
{
	const struct figures *figures = &row->figures;
	const char *stop;

	frames_of(frames, row->node);
	json_object(json, NULL);
	json_uint(json, "live_bytes", figures->live_bytes);
	json_uint(json, "live_blocks", figures->live_blocks);
	json_uint(json, "peak_bytes", figures->peak_bytes);
	json_uint(json, "peak_blocks", figures->peak_blocks);
	json_uint(json, "total_bytes", figures->total_bytes);
	json_uint(json, "count", figures->count);
	json_uint(json, "frees", figures->frees);
	json_uint(json, "temporary", figures->temporary);
	if (by_site)
		json_uint(json, "stacks", row->contexts);
	stop = frames_stop_text(frames->stop);
	if (stop != NULL)
		json_string(json, "stopped", stop);
	json_array(json, "stack");
	/* Inside the site there is nothing that a site's stacks share. */
	for (size_t i = by_site ? frames->site : 0; i < frames->count; i++)
		report_json_frame(json, &frames->list[i]);
	json_end_array(json);
	json_end_object(json);
}

void report_json(struct model *model, struct frames *frames,
		 const struct report_options *options, FILE *out)
{
	enum figure key = options->one_key ? options->key : FIGURE_LIVE;
	bool by_site = options->by == REPORT_BY_SITE;
	uint64_t top = options->top_given ? options->top : DEFAULT_ROWS;
	struct json json = { .out = out };
	const struct rows_query query = {
		key, by_site ? frames_site_key : NULL, NULL, frames
	};
	struct rows rows;

	if (by_site)
		frames_find_sites(frames);
	rows_collect(model, &query, &rows);
	rows_sort(&rows);
	json_object(&json, NULL);
	json_uint(&json, "schema", 1);
	put_summary(&json, model);
	json_array(&json, "rows");
	progress_begin("looking up symbols", rows.count);
	for (size_t i = 0; i < rows.count && (top == 0 || i < top); i++) {
		put_row(&json, frames, &rows.list[i], by_site);
		progress_update(i);
	}
	progress_end();
	json_end_array(&json);
	json_end_object(&json);
	free(rows.list);
}
