/*
 * rows_groups.c: see rows_groups.h. Each worker notes the pairs that it meets,
 * numbered by itself; afterwards one thread numbers all of them.
 *
 * Numbers depend on which worker met what first: who tells groups puts them
 * into an order of their own.
 */
#include "cli/model/rows/rows_groups.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "cli/model/account.h"
#include "cli/model/lifespans.h"
#include "cli/model/map_index.h"
#include "cli/model/rows/rows_select.h"
#include "unwind/claim.h"

struct finding {
	const struct model *model;
	uint64_t most;
	struct found {
		uint64_t *nodes;	/* a bit for each; without keys */
		struct block_keys keys;
		struct table of_pair;
		struct rows_group *list;
		size_t count, capacity;
		bool full;
	} worker[STORE_WORKERS_MAX];
};

static uint64_t place_of(uint32_t node, uint32_t key)
{
	return (uint64_t)node << 32 | key;
}

/* ---- the values of a row ---- */

uint32_t rows_groups_columns(const struct block_keys *keys)
{
	static const uint32_t columns[BLOCK_KEY_COUNT] = {
		[BLOCK_KEY_THREAD] = STORE_BIT(STORE_THREAD),
		[BLOCK_KEY_SIZE] = STORE_BIT(STORE_SIZE),
		[BLOCK_KEY_SIZE_CLASS] = STORE_BIT(STORE_SIZE),
		[BLOCK_KEY_ARENA] = STORE_BIT(STORE_LAYOUT),
		[BLOCK_KEY_LIFETIME] = STORE_BIT(STORE_LIFETIME) |
				       STORE_BIT(STORE_HOW),
		[BLOCK_KEY_MAPPING] = STORE_BIT(STORE_ADDRESS) |
				      STORE_BIT(STORE_BEGIN),
		[BLOCK_KEY_HEAP] = STORE_BIT(STORE_ADDRESS),
	};
	uint32_t all = 0;

	for (unsigned i = 0; i < keys->count; i++)
		all |= columns[keys->list[i]];
	return all;
}

static uint32_t class_of(const struct model *model,
			 const struct store_batch *batch, size_t row)
{
	uint64_t how = batch->column[STORE_HOW][row];

	if (how == STORE_LIVE)
		return LIFESPAN_LIVE;
	if (!rows_is_freed(how))
		return BLOCK_KEY_UNKNOWN;
	return histogram_bucket(account_span_ns(model,
				batch->column[STORE_LIFETIME][row]));
}

void rows_groups_values(const struct model *model,
			const struct block_keys *keys,
			const struct store_batch *batch, size_t row,
			uint32_t values[BLOCK_KEYS_MAX])
{
	struct block block = rows_block(model, batch, row);

	block_keys_of(keys, &block, values);
	for (unsigned i = 0; i < keys->count; i++)
		if (keys->list[i] == BLOCK_KEY_LIFETIME)
			values[i] = class_of(model, batch, row);
		else if (keys->list[i] == BLOCK_KEY_MAPPING)
			values[i] = map_index_path(model->mappings,
					pools_address(block.address),
					block.birth);
}

/* ---- which there are ---- */

static void note_nodes(void *owner, unsigned worker,
		       const struct store_batch *batch)
{
	struct finding *finding = owner;
	size_t count = finding->model->contexts.node_count;
	struct found *found = &finding->worker[worker];

	if (found->nodes == NULL)
		found->nodes = grow_zeroed(count / 64 + 1, sizeof(uint64_t));
	for (size_t i = 0; i < batch->count; i++) {
		uint64_t node = batch->column[STORE_NODE][i];

		if (node < count)
			found->nodes[node / 64] |= UINT64_C(1) << node % 64;
	}
}

static void note_pair(struct finding *finding, struct found *found,
		      uint32_t node, const uint32_t *values)
{
	struct rows_group group = {
		node, block_keys_number(&found->keys, values),
	};
	uint64_t place = place_of(node, group.key);

	if (table_number(&found->of_pair, place, found->count) < found->count)
		return;
	GROW(found->list, found->count, found->capacity);
	found->list[found->count++] = group;
	found->full = finding->most != 0 && found->count > finding->most;
}

static void note_pairs(void *owner, unsigned worker,
		       const struct store_batch *batch)
{
	struct finding *finding = owner;
	struct found *found = &finding->worker[worker];
	uint32_t values[BLOCK_KEYS_MAX];

	for (size_t i = 0; i < batch->count && !found->full; i++) {
		uint64_t node = batch->column[STORE_NODE][i];

		if (node >= finding->model->contexts.node_count)
			continue;
		rows_groups_values(finding->model, &found->keys, batch, i,
				   values);
		note_pair(finding, found, (uint32_t)node, values);
	}
}

static void add_group(struct rows_groups *groups, uint32_t node, uint32_t key)
{
	GROW(groups->list, groups->count, groups->capacity);
	groups->list[groups->count++] = (struct rows_group){ node, key };
}

static void number_nodes(struct rows_groups *groups,
			 const struct finding *finding)
{
	size_t count = groups->model->contexts.node_count;

	groups->of_node = grow_alloc(count * sizeof(*groups->of_node));
	for (size_t node = 0; node < count; node++) {
		bool there = false;

		for (unsigned w = 0; w < STORE_WORKERS_MAX; w++)
			there |= finding->worker[w].nodes != NULL &&
				 finding->worker[w].nodes[node / 64] >>
					 node % 64 & 1;
		groups->of_node[node] = there ? (uint32_t)groups->count :
						STORE_NONE;
		if (there)
			add_group(groups, (uint32_t)node, 0);
	}
}

static void number_pairs(struct rows_groups *groups,
			 const struct found *found)
{
	uint32_t values[BLOCK_KEYS_MAX];

	for (size_t i = 0; i < found->count; i++) {
		uint32_t node = found->list[i].node, key;

		block_keys_values(&found->keys, found->list[i].key, values);
		key = block_keys_number(&groups->keys, values);
		if (table_number(&groups->of_pair, place_of(node, key),
				 groups->count) == groups->count)
			add_group(groups, node, key);
	}
}

static void forget(struct finding *finding)
{
	for (unsigned w = 0; w < STORE_WORKERS_MAX; w++) {
		struct found *found = &finding->worker[w];

		free(found->nodes);
		free(found->list);
		block_keys_free(&found->keys);
		table_free(&found->of_pair);
	}
}

/* ---- the group of a row ---- */

static void number_rows(void *owner, unsigned worker,
			const struct store_batch *batch, uint32_t *numbers)
{
	const struct rows_groups *groups = owner;
	uint32_t values[BLOCK_KEYS_MAX], key;

	(void)worker;
	for (size_t i = 0; i < batch->count; i++) {
		uint64_t node = batch->column[STORE_NODE][i];

		numbers[i] = STORE_NONE;
		rows_groups_values(groups->model, &groups->keys, batch, i,
				   values);
		if (node < groups->model->contexts.node_count &&
		    block_keys_find(&groups->keys, values, &key))
			numbers[i] = table_get(&groups->of_pair,
					       place_of((uint32_t)node, key));
	}
}

_Static_assert(TABLE_NONE == STORE_NONE, "what is in no table is in no group");

static void set_grouping(struct rows_groups *groups)
{
	groups->grouping = (struct store_grouping){
		.groups = (uint32_t)groups->count,
		.column = STORE_NODE,
		.map = groups->of_node,
		.map_size = groups->model->contexts.node_count,
	};
	if (groups->keys.count == 0)
		return;
	groups->grouping.number = number_rows;
	groups->grouping.owner = groups;
	groups->grouping.columns = STORE_BIT(STORE_NODE) |
				   rows_groups_columns(&groups->keys);
}

int rows_groups_find(struct rows_groups *groups, const struct model *model,
		     struct store *store, const struct store_scan *scan,
		     uint64_t most)
{
	bool keyed = model->keys.count > 0;
	struct finding *finding = grow_zeroed(1, sizeof(*finding));
	int error;

	memset(groups, 0, sizeof(*groups));
	groups->model = model;
	block_keys_copy(&groups->keys, &model->keys);
	finding->model = model;
	finding->most = most;
	for (unsigned w = 0; w < STORE_WORKERS_MAX; w++)
		block_keys_copy(&finding->worker[w].keys, &model->keys);
	error = store_scan_each(store, scan, STORE_BIT(STORE_NODE) |
				rows_groups_columns(&model->keys), keyed ?
				note_pairs : note_nodes, finding);
	if (error == 0 && !keyed)
		number_nodes(groups, finding);
	for (unsigned w = 0; w < STORE_WORKERS_MAX && keyed && error == 0;
	     w++)
		number_pairs(groups, &finding->worker[w]);
	if (error == 0 && most != 0 && groups->count > most)
		error = -E2BIG;
	forget(finding);
	free(finding);
	CLAIM(groups->count < STORE_NONE);
	set_grouping(groups);
	return error;
}

void rows_groups_free(struct rows_groups *groups)
{
	free(groups->list);
	free(groups->of_node);
	table_free(&groups->of_pair);
	block_keys_free(&groups->keys);
}
