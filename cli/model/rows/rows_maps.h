/*
 * rows_maps.h: what was mapped, kept in a store: found by the pass over the
 * events that makes the store, so that nobody needs another one.
 *
 * Of a store that was extended, or is of a part, it is not there: what is known
 * of mappings halfway is not kept.
 *
 * One thread for each model.
 */
#ifndef GNOMON_ROWS_MAPS_H
#define GNOMON_ROWS_MAPS_H

#include <stdbool.h>

#include "cli/model/model.h"
#include "cli/store/store_write.h"

/* From model_maps; maps_finish was called. */
void rows_maps_write(const struct model *model, struct store_writer *writer);

/*
 * Into the model, which has read the outline of the trace without what was
 * mapped: model_maps is as after model_read_maps. False: the store does not have
 * it, or not as we write it; then nothing was changed.
 */
bool rows_maps_read(struct model *model, struct store *store);

#endif
