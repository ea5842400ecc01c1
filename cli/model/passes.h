/*
 * passes.h: what passes.c does for who answers otherwise than by passes.
 * Private to the model.
 */
#ifndef GNOMON_PASSES_H
#define GNOMON_PASSES_H

#include "cli/model/model_state.h"

/*
 * What the words of the model's options mean in the trace that `outline` has
 * read, which may be the model itself: its selection, view and end. False: they
 * make no sense there, which was noted.
 */
bool passes_resolve(struct model *model, const struct model *outline);

#endif
