/*
 * coverage.c: see coverage.h. Filters of blocks leave out the difference of two
 * totals of the model. Filters of stacks leave out costs of contexts.
 * Allocations that are only in TOTALS and REST records are added to these.
 *
 * Called by the main thread, after reading.
 */
#include "cli/model/coverage.h"

#include <string.h>

#include "cli/model/filters.h"
#include "cli/model/model_state.h"
#include "cli/model/selection.h"
#include "unwind/base/assertion.h"

const char *const coverage_causes[COVERAGE_CAUSES] = {
	[COVERAGE_CULL] = "cull", [COVERAGE_STRIP] = "strip",
	[COVERAGE_DEPTH_0] = "depth 0", [COVERAGE_LIMIT] = "limit",
};

static void add(struct coverage_amount *sum,
		const struct coverage_amount *more)
{
	sum->allocations += more->allocations;
	sum->bytes += more->bytes;
	sum->live_blocks += more->live_blocks;
	sum->live_bytes += more->live_bytes;
}

static struct coverage_amount amount_of(const struct totals *totals)
{
	return (struct coverage_amount){
		totals->allocations, totals->total_bytes,
		totals->live_blocks, totals->live_bytes,
	};
}

/* The difference, at least 0: sums of a sample are rounded one by one, and
 * numbers of a hostile trace may contradict each other. */
static uint64_t difference(uint64_t all, uint64_t part)
{
	return part < all ? all - part : 0;
}

/* Adds the blocks that filters of blocks leave out. */
static void add_left(const struct model *model, struct coverage *coverage)
{
	struct coverage_amount all = amount_of(&model->whole);
	const struct coverage_amount selected = amount_of(&model->totals);
	bool heaps = filter_has(model->options.filter, FILTER_HEAP,
				FILTER_HEAP);

	for (size_t i = 1; heaps && i < model->pools.count; i++) {
		const struct coverage_amount pool =
			amount_of(&model->pools.list[i].figures);

		add(&all, &pool);
	}
	add(&coverage->not_selected, &(struct coverage_amount){
		difference(all.allocations, selected.allocations),
		difference(all.bytes, selected.bytes),
		difference(all.live_blocks, selected.live_blocks),
		difference(all.live_bytes, selected.live_bytes) });
}

/* Adds the other blocks, by the decision of filters of stacks. */
static void add_costs(const struct model *model,
		      enum coverage_decision (*decide)(void *owner,
						       uint32_t node),
		      void *owner, struct coverage *coverage)
{
	struct coverage_amount sum = { 0 };
	struct coverage_amount *const to[] = {
		[COVERAGE_NOT_SELECTED] = &coverage->not_selected,
		[COVERAGE_SELECTED] = &coverage->selected,
		[COVERAGE_UNDECIDABLE] = &coverage->cut,
	};

	for (size_t i = 0; i < model->contexts.cost_count; i++) {
		const struct context_cost *cost = &model->contexts.costs[i];
		const struct coverage_amount amount = {
			cost->allocations, cost->total_bytes,
			cost->live_blocks, cost->live_bytes,
		};

		add(to[decide == NULL ? COVERAGE_SELECTED :
		       decide(owner, cost->node)], &amount);
		add(&sum, &amount);
	}
	add(&coverage->undecidable, &coverage->cut);
	if (model->selection == NULL)
		add(&sum, &coverage->unrecorded);
	DEBUG_ASSERT(model->sample_mean != 0 ||
		     (sum.allocations == model->totals.allocations &&
		      sum.bytes == model->totals.total_bytes &&
		      sum.live_blocks == model->totals.live_blocks &&
		      sum.live_bytes == model->totals.live_bytes));
}

static unsigned causes_of(const struct model *model)
{
	const uint64_t *run = model->omitted.run.value;
	uint64_t cull_ns = model_number(model, GT_INFO, "cull_ns", 0);
	const bool causes[COVERAGE_CAUSES] = {
		[COVERAGE_CULL] = cull_ns > 0,
		/* the recorder reports the first of these, too */
		[COVERAGE_STRIP] = run[GT_RUN_LIFETIME_NS] > cull_ns ||
				   run[GT_RUN_TEMPORARY] > 0,
		[COVERAGE_DEPTH_0] = model_number(model, GT_INFO, "depth",
						  UINT64_MAX) == 0,
		[COVERAGE_LIMIT] = model_number(model, GT_INFO, "part", 0),
	};
	unsigned set = 0;

	for (unsigned i = 0; i < COVERAGE_CAUSES && model->omitted.blocks > 0;
	     i++)
		set |= (unsigned)causes[i] << i;
	return set;
}

static void take_losses(const struct model *model, struct coverage *coverage)
{
	const struct reader_report *report = &model->report;

	coverage->dropped = model_dropped(model);
	coverage->damaged = report->damage_count + report->malformed;
	coverage->lost_bytes = report->lost_bytes;
	coverage->lost_ends = model->whole.lost;
	coverage->unpaired = model->totals.unpaired;
	coverage->foreign_frees = model->controls.foreign;
	coverage->ungrouped = model->beyond;
	coverage->sample_mean = model->sample_mean;
}

static void forget_live(struct coverage *coverage)
{
	struct coverage_amount *const all[] = {
		&coverage->selected, &coverage->not_selected,
		&coverage->undecidable, &coverage->cut, &coverage->left_out,
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		all[i]->live_blocks = all[i]->live_bytes = 0;
}

void coverage_of(const struct model *model,
		 enum coverage_decision (*decide)(void *owner, uint32_t node),
		 void *owner, struct coverage *coverage)
{
	const struct omitted *omitted = &model->omitted;
	bool blocks = model->selection != NULL;

	memset(coverage, 0, sizeof(*coverage));
	coverage->left_out = (struct coverage_amount){
		omitted->blocks, omitted->bytes,
		omitted->live_blocks, omitted->live_bytes,
	};
	coverage->unrecorded = (struct coverage_amount){
		.allocations = omitted->skipped_blocks,
		.bytes = omitted->skipped_bytes,
	};
	coverage->causes = causes_of(model);
	take_losses(model, coverage);
	add_costs(model, decide, owner, coverage);
	if (blocks) {
		add_left(model, coverage);
		add(&coverage->undecidable, &coverage->left_out);
	}
	add(blocks || decide != NULL ? &coverage->undecidable :
	    &coverage->selected, &coverage->unrecorded);
	coverage->has_live = !blocks ||
		!selection_is_of_moment(model->selection);
	if (!coverage->has_live)
		forget_live(coverage);
	add(&coverage->whole, &coverage->selected);
	add(&coverage->whole, &coverage->not_selected);
	add(&coverage->whole, &coverage->undecidable);
}

void coverage_add(struct coverage *sum, const struct coverage *more)
{
	add(&sum->whole, &more->whole);
	add(&sum->selected, &more->selected);
	add(&sum->not_selected, &more->not_selected);
	add(&sum->undecidable, &more->undecidable);
	add(&sum->cut, &more->cut);
	add(&sum->left_out, &more->left_out);
	add(&sum->unrecorded, &more->unrecorded);
	sum->has_live |= more->has_live;
	sum->causes |= more->causes;
	sum->dropped += more->dropped;
	sum->damaged += more->damaged;
	sum->lost_bytes += more->lost_bytes;
	sum->lost_ends += more->lost_ends;
	sum->unpaired += more->unpaired;
	sum->foreign_frees += more->foreign_frees;
	sum->ungrouped += more->ungrouped;
	if (more->sample_mean > sum->sample_mean)
		sum->sample_mean = more->sample_mean;
}
