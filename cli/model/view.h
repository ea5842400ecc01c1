/*
 * view.h: the view: from which stamp on a trace counts, applied while it is
 * read (controls.h). Private to the model.
 */
#ifndef GNOMON_VIEW_H
#define GNOMON_VIEW_H

#include "cli/model/model_state.h"

/* Apply commands to the recorder up to the stamp; later events follow. */
void view_advance(struct model *model, uint64_t stamp);
/* The view begins at this stamp, whatever commands follow: known before the
 * first event. 0: at the start. */
void view_set(struct model *model, uint64_t stamp);

/* Reset all measures. */
void view_forget_figures(struct model *model);

/* Whether blocks that were left out before this record are from before the
 * view. */
bool view_is_beginning(const struct model *model,
		       const struct trace_control *record);

/* Whether the block is from before the view. */
static inline bool view_is_foreign(const struct model *model,
				   const struct block *block)
{
	return block->alloc < model->controls.view;
}

/* A free, or the end of a realloc, of an unknown block. */
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
