/*
 * rows_peaks.c: see rows_peaks.h. The caller's groups are made of those that
 * rows have (rows_groups.h): each is asked about once, before the sweep.
 *
 * One thread; the store's workers call number_rows.
 */
#include "cli/model/rows/rows_peaks.h"

#include <stdlib.h>

#include "cli/base/grow.h"
#include "cli/model/rows/rows_groups.h"
#include "cli/model/rows/rows_select.h"
#include "cli/store/store_sweep.h"
#include "unwind/claim.h"

struct outer {
	const struct rows_groups *groups;
	uint32_t *of_group;	/* the caller's number of each */
};

static void number_rows(void *owner, unsigned worker,
			const struct store_batch *batch, uint32_t *numbers)
{
	const struct outer *outer = owner;
	const struct store_grouping *inner = &outer->groups->grouping;

	inner->number(inner->owner, worker, batch, numbers);
	for (size_t i = 0; i < batch->count; i++)
		if (numbers[i] != STORE_NONE)
			numbers[i] = outer->of_group[numbers[i]];
}

/* Without keys a node has one group, and this is a map of nodes. */
static void map_nodes(struct rows_groups *groups, const uint32_t *of_group)
{
	for (size_t i = 0; i < groups->count; i++)
		groups->of_node[groups->list[i].node] = of_group[i];
}

static void ask(const struct model *model, const struct rows_groups *groups,
		uint32_t (*group)(void *owner, uint32_t node, uint32_t key),
		void *owner, uint32_t *of_group)
{
	for (size_t i = 0; i < groups->count; i++) {
		uint32_t key;

		of_group[i] = STORE_NONE;
		if (block_keys_translate(&model->keys, &groups->keys,
					 groups->list[i].key, &key))
			of_group[i] = group(owner, groups->list[i].node, key);
	}
}

static void tell(const struct model *model, const struct store_peak *found,
		 struct group_peak *peaks, size_t count)
{
	unsigned blocks = weigh_block_bits(model->sample_mean);
	unsigned bytes = weigh_byte_bits(model->sample_mean);

	for (size_t i = 0; i < count; i++)
		peaks[i] = (struct group_peak){
			.bytes = weigh_whole(found[i].bytes, bytes,
					     weigh_half(bytes)),
			.blocks = weigh_whole(found[i].blocks, blocks,
					      weigh_half(blocks)),
			.ns = found[i].bytes == 0 ? 0 :
				model_since_start_ns(model, found[i].stamp),
		};
}

int rows_group_peaks(const struct model *model, struct store *store,
		     uint32_t (*group)(void *owner, uint32_t node,
				       uint32_t key), void *owner,
		     struct group_peak *peaks, size_t count,
		     const atomic_bool *cancel)
{
	struct store_peak *found = grow_zeroed(count + 1, sizeof(*found));
	const struct store_weight weight = rows_weight(model);
	struct store_grouping grouping;
	struct rows_select select;
	struct rows_groups groups;
	struct outer outer = { .groups = &groups };
	int error;

	rows_select(&select, model, cancel);
	error = rows_groups_find(&groups, model, store, &select.scan, 0);
	outer.of_group = grow_alloc((groups.count + 1) *
				    sizeof(*outer.of_group));
	if (error == 0) {
		ask(model, &groups, group, owner, outer.of_group);
		grouping = groups.grouping;
		grouping.groups = (uint32_t)count;
		grouping.owner = &outer;
		if (grouping.number != NULL)
			grouping.number = number_rows;
		else
			map_nodes(&groups, outer.of_group);
		error = store_peaks(store, &select.scan, &grouping, &weight,
				    NULL, found);
	}
	if (error == 0)
		tell(model, found, peaks, count);
	rows_groups_free(&groups);
	free(outer.of_group);
	free(found);
	return error;
}
