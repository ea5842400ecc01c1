/*
 * rows_sweep.h: from a store, what depends on the order of births and ends: own
 * peaks of groups, which model_group_peaks finds by a pass, and figures over
 * time, which model_follow tells.
 *
 * Of a model that rows_answer has filled and that has still the figures which
 * it found. One thread for each model.
 */
#ifndef GNOMON_ROWS_SWEEP_H
#define GNOMON_ROWS_SWEEP_H

#include <stdatomic.h>

#include "cli/model/model.h"
#include "cli/store/store_sweep.h"

/* To which group, below `count`, blocks belong that have this node of the
 * model, and this number of its keys; or MODEL_NO_GROUP. Asked once about each
 * pair. */
struct rows_told {
	uint32_t (*group)(void *owner, uint32_t node, uint32_t key);
	void *owner;
	size_t count;
	const atomic_bool *cancel;	/* as a scan has it */
};

/* `peaks` has told->count entries. 0, or as store_scan_each: then they are worth
 * nothing. */
int rows_group_peaks(const struct model *model,
		     const struct rows_told *told, struct group_peak *peaks);

/* `list` has axis->steps entries for each group, weighed (weigh.h), and as many
 * for all selected blocks, in a group or not; axis->temporary is the model's.
 * The same. */
int rows_timeline(const struct model *model, const struct rows_told *told,
		  const struct store_axis *axis, struct store_step *list);

#endif
