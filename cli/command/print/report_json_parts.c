/*
 * report_json_parts.c: a trace's summary, measures and stacks as JSON. Keys are
 * only ever added, because tools rely on the names. Called by the main thread.
 */
#include "cli/command/print/report_parts.h"

#include <string.h>

#include "cli/model/omitted.h"

/* Where the live blocks lie, and how much memory was added by rounding. */
static void put_heap(struct json *json, const struct report *r)
{
	struct heap_share shares[HEAP_PARTS];

	report_heap(r, shares);
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

void report_json_totals(struct json *json, const struct report_process *about)
{
	const struct coverage *coverage = &about->coverage;

	json_uint(json, "allocations", about->sum.count);
	json_uint(json, "frees", about->sum.frees);
	json_uint(json, "total_bytes", about->sum.total_bytes);
	json_uint(json, "live_bytes", about->sum.live_bytes);
	json_uint(json, "live_blocks", about->sum.live_blocks);
	json_uint(json, "peak_bytes", about->sum.peak_bytes);
	json_uint(json, "peak_blocks", about->sum.peak_blocks);
	json_uint(json, "peak_time_ns", about->peak_time_ns);
	json_uint(json, "temporary", about->sum.temporary);
	report_coverage_missing(json, coverage);
	json_uint(json, "duration_ns", about->duration_ns);
	json_uint(json, "threads", about->threads);
	json_uint(json, "contexts", about->contexts);
	json_bool(json, "estimated", coverage->sample_mean > 0);
	if (coverage->sample_mean > 0)
		json_uint(json, "sample_mean", coverage->sample_mean);
	json_uint(json, "damaged", coverage->damaged);
	json_uint(json, "lost_bytes", coverage->lost_bytes);
}

/* For a trace from which blocks were left out. */
static void put_left_out(struct json *json, const struct report *r)
{
	const struct coverage_amount *left_out = &r->about.coverage.left_out;
	const uint64_t *run = model_leftout(r->model)->run.value;

	if (left_out->allocations == 0)
		return;
	json_uint(json, "left_out_blocks", left_out->allocations);
	json_uint(json, "left_out_bytes", left_out->bytes);
	json_bool(json, "left_out_peak_exact", run[GT_RUN_PEAK_KEPT] != 0);
	json_uint(json, "left_out_peak_bytes", run[GT_RUN_PEAK_BYTES]);
}

void report_json_summary(struct json *json, const struct report *r)
{
	const char *filters = filter_text(r->options->query->filter);
	const struct report_process *about = &r->about;

	json_object(json, "summary");
	report_json_totals(json, about);
	json_string(json, "exit", about->exit);
	put_left_out(json, r);
	report_view_json(json, r);
	if (!r->options->no_heap)
		put_heap(json, r);
	json_uint(json, "repaired", model_totals(r->model)->repaired);
	json_uint(json, "stopped", model_stopped(r->model));
	json_uint(json, "pid", about->pid);
	json_uint(json, "parent", about->parent);
	json_string(json, "program", about->program);
	json_string(json, "command", about->command);
	json_bool(json, "complete", about->ended || about->being_written);
	if (filters[0] != 0)
		json_string(json, "filters", filters + 1);
	report_memory_summary(json, r->model);
	json_end_object(json);
	report_coverage_json(json, &about->coverage);
	report_pools_json(json, r->model);
}

static void put_but_own_peak(void *owner, const char *name, uint64_t value)
{
	if (strncmp(name, "own_peak", strlen("own_peak")) != 0)
		json_uint(owner, name, value);
}

void report_json_figures(struct json *json, const struct figures *figures,
			 uint64_t end_ns, bool own_peaks)
{
	const struct members to = members_of_json(json);

	if (own_peaks)
		figures_each(figures, end_ns, to.number, to.owner);
	else
		figures_each(figures, end_ns, put_but_own_peak, json);
}

void report_json_bound(struct json *json, bool bound)
{
	if (bound)
		json_bool(json, "own_peak_bound", true);
}

void report_json_stack(struct json *json, const struct report_stack *stack,
		       size_t first, struct frame_table *once)
{
	const char *stop = frames_stop_text(stack->stop);

	if (stop != NULL)
		json_string(json, "stopped", stop);
	if (stack->count > first)
		json_uint(json, "site", stack->site - first);
	json_array(json, "stack");
	for (size_t i = first; i < stack->count; i++)
		if (once != NULL)
			json_uint(json, NULL, frame_table_number(
					once, &stack->list[i]));
		else
			frame_table_frame(json, &stack->list[i]);
	json_end_array(json);
}
