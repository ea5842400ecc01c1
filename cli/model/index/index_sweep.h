/*
 * index_sweep.h: results that depend on the order of allocations and frees,
 * from the index: own peaks of groups, as model_group_peaks, and measures over
 * time, as model_follow.
 *
 * For a model whose measures are still those of the last index_answer. One
 * thread per model.
 */
#ifndef GNOMON_INDEX_SWEEP_H
#define GNOMON_INDEX_SWEEP_H

#include <stdatomic.h>

#include "cli/model/model.h"
#include "cli/store/store_sweep.h"

/* Returns the group, below `count`, of blocks with this node and this number of
 * the model's keys; or MODEL_NO_GROUP. Called once per pair. */
struct index_grouping {
	uint32_t (*group)(void *owner, uint32_t node, uint32_t key);
	void *owner;
	size_t count;
	const atomic_bool *cancel;	/* see struct store_scan */
};

/* `peaks` has told->count entries. 0, or as store_scan_each: then they are
 * invalid. */
int index_group_peaks(const struct model *model,
		      const struct index_grouping *grouping,
		      struct group_peak *peaks);

/* `list` has axis->steps entries for each group, weighted (weight.h), then as
 * many for all selected blocks, in a group or not. axis->temporary is the
 * model's. Errors as above. */
int index_timeline(const struct model *model,
		   const struct index_grouping *grouping,
		   const struct store_axis *axis, struct store_step *list);

#endif
