/*
 * view.h: from when on a trace counts, applied while it is read (controls.h).
 * Private to the model.
 */
#ifndef GNOMON_VIEW_H
#define GNOMON_VIEW_H

#include "cli/model/model_state.h"

/* Apply what was told up to the stamp; events behind it are to come. */
void view_advance(struct model *model, uint64_t stamp);
/* The view begins at this stamp, whatever is told later: known before the
 * first event. 0: at the start. */
void view_set(struct model *model, uint64_t stamp);

/* Nothing of what was counted so far counts. */
void view_forget_figures(struct model *model);

/* Whether what was left out before this record belongs to what was before the
 * view. */
bool view_is_beginning(const struct model *model,
		       const struct trace_control *record);

/* Whether the block is from before the view. */
static inline bool view_is_foreign(const struct model *model,
				   const struct block *block)
{
	return block->birth < model->controls.view;
}

/* A free, or the end of a realloc, whose block is not known. */
static inline void view_free_unknown(struct model *model, uint64_t stamp)
{
	if (stamp < model->controls.view)
		return;
	if (model->edges.gap)
		model->controls.foreign++;
	else
		model->totals.unpaired++;
}

#endif
