/*
 * index_live.h: the blocks live at given moments, from the index: the same as
 * model_at_moments finds by a pass over the events.
 *
 * For a model that has an index (index_attach). One thread per model.
 */
#ifndef GNOMON_INDEX_LIVE_H
#define GNOMON_INDEX_LIVE_H

#include "cli/model/model.h"

/*
 * As model_at_moments; blocks of `then` have no cost. 0, or as store_scan_each:
 * then `look` was called only for the first moments, and may be called for them
 * again.
 */
int index_live(const struct model *model, const struct model_looks *looks);

#endif
