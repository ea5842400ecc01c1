/*
 * export.c: see export.h: functions that exporters share. Called by the main
 * thread.
 */
#include "cli/command/export.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "cli/base/sort.h"
#include "cli/base/status.h"
#include "cli/base/text/base_name.h"
#include "cli/base/text/quantity.h"
#include "cli/command/print/report_coverage.h"
#include "cli/model/core/contexts.h"
#include "cli/model/omitted.h"

/* Whether stack filters keep a cost; sets its measures. */
static bool keeps(const struct export *export, size_t i,
		  struct figures *figures)
{
	const struct context_cost *cost =
		&model_contexts(export->model)->costs[i];

	model_figures(export->model, cost, figures);
	return export->keep == NULL ||
	       export->keep(export->keeper, cost->node, figures);
}

void export_contexts(struct export *export,
		     void (*each)(void *owner, uint32_t node, uint32_t part,
				  const struct figures *figures),
		     void *owner)
{
	const struct contexts *contexts = model_contexts(export->model);

	for (size_t i = 0; i < contexts->cost_count; i++) {
		const struct context_cost *cost = &contexts->costs[i];
		struct figures figures;

		if (cost->allocations > 0 && keeps(export, i, &figures))
			each(owner, cost->node, cost->key, &figures);
	}
}

struct summing {
	struct figures *sum;
	uint64_t contexts;
};

static void add_context(void *owner, uint32_t node, uint32_t part,
			const struct figures *figures)
{
	struct summing *summing = owner;

	(void)node, (void)part;
	figures_add(summing->sum, figures);
	summing->contexts++;
}

uint64_t export_sum(struct export *export, struct figures *sum)
{
	struct summing summing = { .sum = sum };

	*sum = (struct figures){ 0 };
	export_contexts(export, add_context, &summing);
	return summing.contexts;
}

/* ---- blocks ---- */

/* By node, whether stack filters keep it; NULL: they keep all. */
static bool *find_kept(struct export *export)
{
	const struct contexts *contexts = model_contexts(export->model);
	struct figures figures;
	bool *kept;

	if (export->keep == NULL)
		return NULL;
	kept = grow_zeroed(contexts->node_count, sizeof(*kept));
	for (size_t i = 0; i < contexts->cost_count; i++)
		kept[contexts->costs[i].node] |= keeps(export, i, &figures);
	return kept;
}

struct following {
	const struct contexts *contexts;
	const struct export_follower *to;
	bool *keeps;
	uint32_t thread;
};

/* Contexts added to the trace after it was read are left out. */
static bool is_kept(const struct following *f, uint32_t node)
{
	return node < f->contexts->node_count &&
		(f->keeps == NULL || f->keeps[node]);
}

static void take_alloc(void *owner, const struct block *block, uint32_t number,
		       uint32_t node, uint32_t chain)
{
	const struct following *f = owner;

	if (f->to->alloc != NULL && is_kept(f, node))
		f->to->alloc(f->to->owner, &(struct export_block){
			.block = block, .number = number, .node = node,
			.chain = chain, .thread = f->thread,
			.stamp = block->alloc });
}

static void take_end(void *owner, const struct block *block, uint32_t number,
		     uint32_t node, uint64_t stamp, enum edge_end end,
		     uint32_t chain)
{
	const struct following *f = owner;

	if (f->to->end != NULL && is_kept(f, node))
		f->to->end(f->to->owner, &(struct export_block){
			.block = block, .number = number, .node = node,
			.chain = chain, .thread = f->thread, .stamp = stamp,
			.end = end });
}

static int by_alloc(const void *a, const void *b)
{
	const struct block *x = *(const struct block *const *)a;
	const struct block *y = *(const struct block *const *)b;

	return sort_up(x->alloc, y->alloc) ?: sort_up(x->address, y->address);
}

/* Models from events and models from an index order blocks differently. */
static void report_live(const struct following *f, const struct model *model)
{
	const struct block **list = NULL, *block;
	size_t count = 0, capacity = 0;
	uint64_t at = 0;

	while ((block = model_next_block(model, &at)) != NULL)
		if (is_kept(f, model_node_of(model, block))) {
			GROW(list, count, capacity);
			list[count++] = block;
		}
	SORT(list, count, by_alloc);
	for (size_t i = 0; i < count; i++)
		f->to->live(f->to->owner, &(struct export_block){
			.block = list[i],
			.node = model_node_of(model, list[i]) });
	free(list);
}

int export_follow(struct export *export,
		  const struct export_follower *follower)
{
	struct following f = { .contexts = model_contexts(export->model),
			       .to = follower, .keeps = find_kept(export) };
	const struct block_observer observer = { .owner = &f,
						 .alloc = take_alloc,
						 .end = take_end,
						 .thread = &f.thread };
	int status = EXIT_COMPLETE;

	if (follower->live == NULL || !model_is_of_moment(export->model))
		status = model_follow(export->model, export->trace, &observer);
	if (follower->live != NULL && status != EXIT_NOTHING)
		report_live(&f, export->model);
	free(f.keeps);
	return status == EXIT_NOTHING ? status : EXIT_COMPLETE;
}

/* ---- notes on incomplete output ---- */

void export_note_contexts(const struct export *export)
{
	const struct coverage *coverage = &export->coverage;
	const struct model *model = export->model;
	const struct totals *totals = model_totals(model);
	struct notes *notes = model_notes(model);
	uint64_t left_out = coverage->left_out.allocations;
	LOCAL_BUFFER cut = { 0 };

	if (coverage->unrecorded.allocations > 0)
		notes_hint(notes, "%s: %s allocations (%s) were not recorded, "
			   "because of their size or thread, only counted: "
			   "they are not in the output", export->trace,
			   COUNT_TEXT(coverage->unrecorded.allocations),
			   SIZE_TEXT(coverage->unrecorded.bytes));
	if (model_is_selected(model) && left_out > 0)
		notes_hint(notes, "%s: of %s blocks only sums are known: they "
			   "are not in the output, because the filters cannot "
			   "be applied to them", export->trace,
			   COUNT_TEXT(left_out));
	else if (left_out > 0 && !model_peak_is_shared(model))
		notes_hint(notes, "%s: only sums were recorded: the peak (%s) "
			   "is not in the output, because no stack has a share "
			   "of "
			   "it", export->trace, SIZE_TEXT(totals->peak_bytes));
	report_coverage_cut(coverage, &cut);
	if (cut.size > 0)
		notes_hint(notes, "%s: %s", export->trace, cut.data);
}

void export_note_steps(const struct export *export)
{
	uint64_t left_out = export->coverage.left_out.allocations;

	/* with a filter, an earlier note says already that they are missing */
	if (left_out > 0 && !model_is_selected(export->model))
		notes_hint(model_notes(export->model), "%s: %s blocks were "
			   "left out of the trace, only sums are known: "
			   "they are in no step over time", export->trace,
			   COUNT_TEXT(left_out));
}

void export_note_events(const struct export *export)
{
	const struct coverage *coverage = &export->coverage;
	struct notes *notes = model_notes(export->model);

	if (coverage->sample_mean > 0)
		notes_hint(notes, "%s: is a sample of the blocks: the output "
			   "has the sampled blocks, not estimates of all "
			   "blocks as reports have", export->trace);
	if (coverage->left_out.allocations > 0)
		notes_hint(notes, "%s: %s blocks were left out of the trace, "
			   "only sums are known: they are not in the "
			   "output", export->trace,
			   COUNT_TEXT(coverage->left_out.allocations));
}

uint64_t export_value(const struct export *export,
		      const struct figures *figures)
{
	return figures_value(figures, export->cost,
			     model_duration_ns(export->model));
}

const char *export_unit(const struct export *export)
{
	return measure_kinds[export->cost].unit == QUANTITY_COUNT ? "count" :
		"bytes";
}

static const char *name_of(struct buffer *scratch, const char *function,
			   const char *library, uint64_t offset,
			   uint64_t address)
{
	if (function != NULL)
		return function;
	buffer_clear(scratch);
	if (library != NULL)
		buffer_printf(scratch, "%s+0x%" PRIx64, library, offset);
	else
		buffer_printf(scratch, "0x%" PRIx64, address);
	return scratch->data;
}

const char *export_frame_name(struct buffer *scratch,
			      const struct frame *frame)
{
	return name_of(scratch, frame->function, frame->library,
		       frame->module_offset, frame->address);
}

void export_stack_text(struct buffer *text, const struct frame *list,
		       size_t count)
{
	LOCAL_BUFFER scratch = { 0 };

	for (size_t i = 0; i < count; i++) {
		const char *name = export_frame_name(&scratch, &list[i]);

		if (i > 0)
			buffer_string(text, ";");
		while (*name != 0) {
			size_t plain = strcspn(name, ";\\");

			buffer_add(text, name, plain);
			name += plain;
			if (*name == 0)
				break;
			buffer_string(text, "\\");
			buffer_add(text, name++, 1);
		}
	}
}

void export_stack_heads(struct csv *csv, bool site)
{
	static const char *const names[] = {
		"function", "file", "line", "library", "stack", "stopped",
	};

	for (size_t i = site ? 0 : 4; i < sizeof(names) / sizeof(names[0]); i++)
		csv_text(csv, names[i]);
}

void export_stack_fields(struct csv *csv, const struct frame *list,
			 size_t count, size_t at, enum gt_stop stop, bool site)
{
	static const struct frame nothing;
	const struct frame *frame = count == 0 ? &nothing : &list[at];
	LOCAL_BUFFER text = { 0 };

	if (site) {
		csv_text(csv, count == 0 ? NULL :
			 export_frame_name(&text, frame));
		csv_text(csv, frame->file);
		csv_number(csv, frame->line);
		csv_text(csv, frame->library);
	}
	buffer_clear(&text);
	export_stack_text(&text, list, count);
	csv_text(csv, text.data);
	csv_text(csv, frames_stop_text(stop));
}

const char *export_profile_name(struct buffer *scratch,
				const struct profile_frame *frame)
{
	return name_of(scratch, frame->function, frame->library,
		       frame->offset, frame->offset);
}

const char *export_program(const struct model *model)
{
	const char *program = model_fact(model, GT_INFO, "exe");

	return program != NULL ? base_name(program) : NULL;
}

void export_title(struct buffer *title, const struct model *model,
		  const char *trace)
{
	const char *program = export_program(model);

	if (program != NULL)
		buffer_printf(title, "%s - ", program);
	buffer_string(title, base_name(trace));
	buffer_printable(title);
}
