/*
 * index_maps.h: mappings, stored in the index. The pass over the events that
 * makes the index finds them, so that no other pass is needed.
 *
 * Not stored in an index that was extended or in a part: the state of mappings
 * in the middle of a trace is not kept.
 *
 * One thread per model.
 */
#ifndef GNOMON_INDEX_MAPS_H
#define GNOMON_INDEX_MAPS_H

#include <stdbool.h>

#include "cli/model/model.h"
#include "cli/store/store_write.h"

/* Stores model_maps; maps_finish was called. */
void index_maps_write(const struct model *model, struct store_writer *writer);

/*
 * Sets model_maps of a model that has read the outline of the trace, as
 * model_read_maps does. False: the index does not have the mappings, or in
 * another format; then nothing was changed.
 */
bool index_maps_read(struct model *model, struct store *store);

#endif
