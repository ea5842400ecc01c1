/*
 * passes.h: functions of passes.c for files that answer without passes. Private
 * to the model.
 */
#ifndef GNOMON_PASSES_H
#define GNOMON_PASSES_H

#include "cli/model/model_state.h"

/*
 * Resolves the words of the model's options in the trace that `outline` (which
 * may be the model itself) has read: its selection, view and end. False: they
 * have no meaning in that trace, which was noted.
 */
bool passes_resolve(struct model *model, const struct model *outline);

#endif
