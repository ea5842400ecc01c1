/*
 * rows_peaks.h: own peaks of groups of contexts from a store: what
 * model_group_peaks finds by a pass.
 */
#ifndef GNOMON_ROWS_PEAKS_H
#define GNOMON_ROWS_PEAKS_H

#include <stdatomic.h>

#include "cli/model/model.h"
#include "cli/store/store.h"

/*
 * As model_group_peaks, of a model that rows_answer has filled and that still
 * has the figures which it found. 0, or as store_scan_each: then `peaks` is
 * worth nothing.
 */
int rows_group_peaks(const struct model *model, struct store *store,
		     uint32_t (*group)(void *owner, uint32_t node,
				       uint32_t key), void *owner,
		     struct group_peak *peaks, size_t count,
		     const atomic_bool *cancel);

#endif
