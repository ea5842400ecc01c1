/*
 * report_about.c: collects the facts of a trace as a whole from its model.
 * Called by the main thread.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "cli/command/print/report_parts.h"
#include "cli/model/core/contexts.h"
#include "cli/stack/stack_filter.h"
#include "cli/trace/read/reader.h"

static char *text_of(const char *text)
{
	return grow_copy(text ? text : "", text ? strlen(text) : 0);
}

static void take_ending(struct report_process *about,
			const struct model *model)
{
	const struct reader_report *report = model_reader_report(model);

	about->forked = model_fact(model, GT_INFO, "parent_trace") != NULL;
	about->being_written = report->being_written;
	about->ended = report->ended;
	about->failed = report->failed;
}

bool report_keeps(const struct report *r, size_t i, struct figures *figures)
{
	const struct context_cost *cost = &model_contexts(r->model)->costs[i];

	model_figures(r->model, cost, figures);
	return r->keep == NULL || r->keep(r->keeper, cost->node, figures);
}

static void add_up(const struct report *r, struct report_process *about)
{
	const struct contexts *contexts = model_contexts(r->model);
	bool split = model_block_keys(r->model)->count != 0;
	struct table seen = { 0 };

	for (size_t i = 0; i < contexts->cost_count; i++) {
		struct figures figures;

		if (!report_keeps(r, i, &figures))
			continue;
		figures_add(&about->sum, &figures);
		/* A context split by block keys counts once. */
		about->contexts += !split || table_number(
			&seen, contexts->costs[i].node, i) == i;
	}
	table_free(&seen);
}

static void take_children(struct report_process *about,
			  const struct model *model)
{
	static const char child[] = "child_";
	size_t count;
	const struct fact *facts = model_facts(model, &count);

	for (size_t i = 0; i < count; i++) {
		const struct fact *fact = &facts[i];

		if (fact->type != GT_COUNTERS ||
		    strncmp(fact->key, child, sizeof(child) - 1) != 0)
			continue;
		GROW(about->children, about->child_count,
		     about->child_capacity);
		about->children[about->child_count++] = (struct report_child){
			.pid = strtoull(fact->key + sizeof(child) - 1, NULL,
					10),
			.status = (int)strtol(fact->value, NULL, 10),
		};
	}
}

void report_about(struct report *r, const char *trace)
{
	const struct model *model = r->model;
	struct report_process *about = &r->about;
	const struct coverage_amount *unrecorded = &about->coverage.unrecorded;
	LOCAL_BUFFER end = { 0 }, command = { 0 };
	uint64_t peak_stamp = model_peak_stamp(model);

	memset(about, 0, sizeof(*about));
	model_exit_text(model, &end);
	about->trace = text_of(trace);
	about->program = text_of(model_fact(model, GT_INFO, "exe"));
	model_command(model, &command);
	about->command = text_of(command.data);
	about->exit = text_of(end.data);
	about->exit_unknown = model_exit_unknown(model);
	take_children(about, model);
	about->pid = model_number(model, GT_INFO, "pid", 0);
	about->parent = model_number(model, GT_INFO, "ppid", 0);
	about->process = model_number(model, GT_INFO, "starttime", 0);
	about->start_ns = model_number(model, GT_INFO, "start_realtime_ns", 0);
	about->duration_ns = model_duration_ns(model);
	about->threads = model_thread_count(model);
	add_up(r, about);
	stack_filter_coverage(r->keeper, model, &about->coverage);
	if (!model_is_selected(model) && r->keep == NULL) {
		about->unrecorded_in_sum = unrecorded->allocations;
		about->sum.count += unrecorded->allocations;
		about->sum.total_bytes += unrecorded->bytes;
		about->sum.unrecorded_bytes += unrecorded->bytes;
	}
	/* The sum over all contexts would be no bound. */
	if (filter_text(r->options->query->filter)[0] == 0) {
		about->sum.own_peak_bytes = model_totals(model)->peak_bytes;
		about->sum.own_peak_blocks = model_totals(model)->peak_blocks;
		about->sum.own_peak_ns = model_since_start_ns(
			model, model_totals(model)->peak_stamp);
	}
	/* Blocks that are only in totals belong to no context. */
	if (about->sum.peak_bytes == 0 && !model_is_selected(model) &&
	    r->keep == NULL) {
		about->sum.peak_bytes = model_totals(model)->peak_bytes;
		about->sum.peak_blocks = model_totals(model)->peak_blocks;
		peak_stamp = model_totals(model)->peak_stamp;
	}
	/* also for contexts without a block at the peak */
	if (about->sum.peak_bytes > 0 ||
	    model_totals_of_all(model)->peak_bytes > 0)
		about->peak_time_ns = model_since_start_ns(
			model, peak_stamp);
	take_ending(about, model);
	report_sizes_add(r);
}

void report_heap(const struct report *r, struct heap_share shares[HEAP_PARTS])
{
	const struct contexts *contexts = model_contexts(r->model);
	bool *kept = NULL;

	if (r->keep != NULL)
		kept = grow_zeroed(contexts->cost_count, sizeof(*kept));
	for (size_t i = 0; i < contexts->cost_count && kept != NULL; i++) {
		struct figures figures;

		kept[i] = report_keeps(r, i, &figures);
	}
	heap_shares(r->model, kept, shares);
	free(kept);
}

void report_process_free(struct report_process *process)
{
	free(process->trace);
	free(process->program);
	free(process->command);
	free(process->exit);
	free(process->children);
}
