/*
 * view.c: see view.h.
 *
 * During the first reading of a trace it is not known which START or CLEAR is
 * the last: so each resets all measures. Later passes know where the view
 * begins, and count nothing before it.
 *
 * Events between a STOP and the next START are not in the trace: so it is not
 * known which live blocks were freed, and which blocks were allocated. So a
 * START drops all blocks, and from then on frees of unknown blocks are
 * expected. A CLEAR keeps the blocks: their frees will come, and allocations
 * and frees of an address still alternate.
 *
 * Called by the reader's thread.
 */
#include "cli/model/view.h"

#include <string.h>

#include "cli/model/account.h"
#include "unwind/base/assertion.h"

void view_forget_figures(struct model *model)
{
	uint64_t last_stamp = model->totals.last_stamp;

	memset(&model->totals, 0, sizeof(model->totals));
	memset(&model->whole, 0, sizeof(model->whole));
	model->totals.last_stamp = last_stamp;
	contexts_forget_costs(&model->contexts);
	histograms_free(&model->histograms);
	timeline_free(&model->timeline);
	chains_free(&model->chains);
	freed_free(&model->freed);
	pools_forget(&model->pools);
	damages_forget(&model->damages);
}

static void begin_anew(struct model *model, uint64_t stamp)
{
	if (model->controls.known && stamp != model->controls.view)
		return;
	DEBUG_ASSERT(stamp >= model->controls.view);
	model->controls.view = stamp;
	model->controls.foreign = 0;
	edges_forget_chains(&model->edges);
	if (!model->controls.known)
		view_forget_figures(model);
	model->totals.unpaired = 0;
	model->totals.repaired = 0;
}

/* Pending reallocs are dropped with their blocks. */
static void drop_blocks(struct model *model, uint64_t stamp)
{
	const struct block *block;
	uint32_t number = 0;

	while (stamp > model->controls.view &&
	       (block = blocks_next(&model->edges.blocks, &number)) != NULL)
		if (!view_is_foreign(model, block))
			account_end(model, (struct block *)block, stamp, 0,
				    EDGE_LOST);
	edges_forget(&model->edges);
}

static void apply(struct model *model, const struct control *control)
{
	struct controls *controls = &model->controls;

	switch (control->what) {
	case GT_CONTROL_STOP:
		controls->off = true;
		break;
	case GT_CONTROL_START:
		begin_anew(model, control->stamp);
		drop_blocks(model, control->stamp);
		controls->off = false;
		model->edges.gap = true;
		break;
	case GT_CONTROL_CLEAR:
		begin_anew(model, control->stamp);
		break;
	}
}

void view_advance(struct model *model, uint64_t stamp)
{
	struct controls *controls = &model->controls;

	DEBUG_ASSERT(controls->next <= controls->count);
	while (controls_next(controls) <= stamp &&
	       controls->next < controls->count)
		apply(model, &controls->list[controls->next++]);
}

void view_set(struct model *model, uint64_t stamp)
{
	model->controls.known = true;
	model->controls.view = stamp;
}

bool view_is_beginning(const struct model *model,
		       const struct trace_control *record)
{
	if (record->what != GT_CONTROL_START &&
	    record->what != GT_CONTROL_CLEAR)
		return false;
	return record->stamp <= (model->controls.known ?
				 model->controls.view : model->until);
}
