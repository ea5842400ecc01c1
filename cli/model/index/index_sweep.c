/*
 * index_sweep.c: see index_sweep.h. The caller's groups are computed from the
 * groups of rows (index_groups.h): once for each of these, before the sweep.
 *
 * One thread; the store's workers call number_rows.
 */
#include "cli/model/index/index_sweep.h"

#include <stdlib.h>

#include "cli/base/grow.h"
#include "cli/model/index/index_groups.h"
#include "cli/model/index/index_select.h"
#include "cli/model/index/index_store.h"
#include "unwind/base/assertion.h"

/* The selected rows, and the caller's groups. */
struct sweep {
	struct index_select select;
	struct index_groups groups;	/* of the rows */
	uint32_t *of_group;		/* the caller's group of each */
	struct store_grouping grouping;
	struct store_weight weight;
};

static void number_rows(void *owner, unsigned worker,
			const struct store_batch *batch, uint32_t *numbers)
{
	const struct sweep *sweep = owner;
	const struct store_grouping *inner = &sweep->groups.grouping;

	inner->number(inner->owner, worker, batch, numbers);
	for (size_t i = 0; i < batch->count; i++)
		if (numbers[i] != STORE_NONE)
			numbers[i] = sweep->of_group[numbers[i]];
}

static void ask(struct sweep *sweep, const struct model *model,
		const struct index_grouping *grouping)
{
	const struct index_groups *groups = &sweep->groups;

	for (size_t i = 0; i < groups->count; i++) {
		uint32_t key;

		sweep->of_group[i] = STORE_NONE;
		if (block_keys_translate(&model->keys, &groups->keys,
					 groups->list[i].key, &key))
			sweep->of_group[i] = grouping->group(
				grouping->owner, groups->list[i].node, key);
	}
}

/* Without keys each node has one group, and groups are a map of nodes. */
static void set_grouping(struct sweep *sweep, size_t count)
{
	struct index_groups *groups = &sweep->groups;

	sweep->grouping = groups->grouping;
	sweep->grouping.groups = (uint32_t)count;
	sweep->grouping.owner = sweep;
	if (groups->grouping.number != NULL) {
		sweep->grouping.number = number_rows;
		return;
	}
	for (size_t i = 0; i < groups->count; i++)
		groups->of_node[groups->list[i].node] = sweep->of_group[i];
}

/* To be released in any case. */
static int begin(struct sweep *sweep, const struct model *model,
		 const struct index_grouping *grouping)
{
	int error;

	ASSERT(grouping->count < STORE_NONE);
	index_select(&sweep->select, model, grouping->cancel);
	sweep->weight = index_weight(model);
	error = index_groups_find(&sweep->groups, model, model->store,
				  &sweep->select.scan, 0);
	sweep->of_group = grow_alloc((sweep->groups.count + 1) *
				     sizeof(*sweep->of_group));
	if (error != 0)
		return error;
	ask(sweep, model, grouping);
	set_grouping(sweep, grouping->count);
	return 0;
}

static void release(struct sweep *sweep)
{
	index_groups_free(&sweep->groups);
	free(sweep->of_group);
}

static void report_peak(const struct model *model,
			const struct store_peak *found, struct group_peak *peak)
{
	unsigned blocks = weight_block_bits(model->sample_mean);
	unsigned bytes = weight_byte_bits(model->sample_mean);

	*peak = (struct group_peak){
		.bytes = weight_whole(found->bytes, bytes, weight_half(bytes)),
		.blocks = weight_whole(found->blocks, blocks,
				       weight_half(blocks)),
		.ns = found->bytes == 0 ? 0 :
			model_since_start_ns(model, found->stamp),
	};
}

int index_group_peaks(const struct model *model,
		      const struct index_grouping *grouping,
		      struct group_peak *peaks)
{
	struct store_peak *found = grow_zeroed(grouping->count + 1,
					       sizeof(*found));
	struct sweep sweep;
	int error = begin(&sweep, model, grouping);

	if (error == 0)
		error = store_peaks(model->store, &sweep.select.scan, &sweep.grouping,
				    &sweep.weight, NULL, found);
	for (size_t i = 0; i < grouping->count && error == 0; i++)
		report_peak(model, &found[i], &peaks[i]);
	release(&sweep);
	free(found);
	index_store_drop(model->store, error, model->options.notes);
	return error;
}

int index_timeline(const struct model *model,
		   const struct index_grouping *grouping,
		   const struct store_axis *axis, struct store_step *list)
{
	struct sweep sweep;
	int error = begin(&sweep, model, grouping);

	if (error == 0)
		error = store_timeline(model->store, &sweep.select.scan,
				       &sweep.grouping, &sweep.weight, axis,
				       list);
	release(&sweep);
	index_store_drop(model->store, error, model->options.notes);
	return error;
}
