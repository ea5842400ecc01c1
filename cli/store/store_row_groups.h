/* store_row_groups.h: the group of each row of a batch. Private to the
 * store. */
#ifndef GNOMON_STORE_ROW_GROUPS_H
#define GNOMON_STORE_ROW_GROUPS_H

#include "cli/store/store_group.h"

/* The columns needed; NULL: no groups. */
static inline uint32_t
store_row_group_columns(const struct store_grouping *grouping)
{
	if (grouping == NULL)
		return 0;
	return grouping->number != NULL ? grouping->columns :
					  STORE_BIT(grouping->column);
}

/* Sets for each row its group, below grouping->groups, or STORE_NONE. */
static inline void store_row_groups(const struct store_grouping *grouping,
				    unsigned worker,
				    const struct store_batch *batch,
				    uint32_t *groups)
{
	const uint64_t *values;

	if (grouping == NULL) {
		for (size_t i = 0; i < batch->count; i++)
			groups[i] = STORE_NONE;
		return;
	}
	if (grouping->number != NULL) {
		grouping->number(grouping->owner, worker, batch, groups);
	} else {
		values = batch->column[grouping->column];
		for (size_t i = 0; i < batch->count; i++)
			groups[i] = grouping->map == NULL ?
				values[i] < STORE_NONE ? (uint32_t)values[i] :
							 STORE_NONE :
				values[i] < grouping->map_size ?
				grouping->map[values[i]] : STORE_NONE;
	}
	for (size_t i = 0; i < batch->count; i++)
		if (groups[i] >= grouping->groups)
			groups[i] = STORE_NONE;
}

/* The weight of a block of this size. */
static inline struct store_amount
store_weigh(const struct store_weight *weight, uint64_t size)
{
	return weight == NULL || weight->of == NULL ?
		(struct store_amount){ 1, size } :
		weight->of(weight->owner, size);
}

#endif
