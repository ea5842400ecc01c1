/*
 * rows_live.h: from a store, what was live at moments: what model_look finds by a
 * pass over the events.
 *
 * Of a model that has a store (rows_take). One thread for each model.
 */
#ifndef GNOMON_ROWS_LIVE_H
#define GNOMON_ROWS_LIVE_H

#include "cli/model/model.h"

/*
 * As model_look; blocks of `then` have no cost. 0, or as store_scan_each: then
 * `look` was called for the first moments only, and may be called again for them.
 */
int rows_live(const struct model *model, const struct model_looks *looks);

#endif
