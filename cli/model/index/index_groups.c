/*
 * index_groups.c: see index_groups.h. Each worker collects the pairs it finds,
 * with numbers of its own, or as bits (index_dense.h). Afterwards one thread
 * numbers all of them.
 *
 * If contexts are merged, all rows belong to the root. Without keys contexts
 * are never merged.
 *
 * Numbers depend on which worker found a pair first: callers sort groups for
 * output.
 */
#include "cli/model/index/index_groups.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "cli/base/hash.h"
#include "cli/model/account.h"
#include "cli/model/core/blocks.h"
#include "cli/model/heap.h"
#include "cli/model/block_lifetimes.h"
#include "cli/model/map_index.h"
#include "cli/model/index/index_select.h"
#include "unwind/base/assertion.h"

/* Sums of this many groups fit in the caches. */
#define ALL_MAX (1u << 16)

/* Pairs that a worker found recently, in a direct-mapped cache: most rows hit
 * it, and need no lookup. */
#define RECENT_BITS 13

struct recent {
	uint32_t node;
	uint32_t values[BLOCK_KEYS_MAX];	/* with fewer keys, the others
						 * are 0 */
};

struct found {
	uint64_t *nodes;		/* a bit for each node; without keys */
	uint64_t *places;		/* likewise for positions; with few
					 * tuples */
	struct block_keys keys;
	struct table of_pair;
	struct recent *recent;
	struct index_group *list;
	size_t count, capacity;
	bool full;
};

struct finding {
	const struct model *model;
	const struct index_dense *dense;
	uint64_t max;
	struct found worker[STORE_WORKERS_MAX];
};

/* The node that a row counts for; STORE_NONE: none. */
static inline uint64_t node_of(const struct model *model,
			       const struct store_batch *batch, size_t row)
{
	uint64_t node = batch->column[STORE_NODE][row];

	if (!model->merged || node >= model->contexts.node_count)
		return node;
	return model_chooses(model, node) ? 0 : STORE_NONE;
}

static void find_places(const struct model *model,
			const struct index_dense *dense,
			const struct index_values *values,
			const struct store_batch *batch, uint32_t *places)
{
	uint64_t nodes[STORE_BATCH];

	for (size_t i = 0; i < batch->count; i++)
		nodes[i] = node_of(model, batch, i);
	index_dense_places(dense, nodes, values, batch->count, places);
}

static uint64_t place_of(uint32_t node, uint32_t key)
{
	return (uint64_t)node << 32 | key;
}

/* ---- the values of a row ---- */

uint32_t index_groups_columns(const struct block_keys *keys)
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

static uint32_t class_of(const struct model *model, uint64_t how,
			 uint64_t lifetime)
{
	if (how == STORE_LIVE)
		return BLOCK_LIFETIME_LIVE;
	if (!index_is_freed(how))
		return BLOCK_KEY_UNKNOWN;
	return histogram_bucket(account_span_ns(model, lifetime));
}

/* The values of one key. */
static void find_values(const struct model *model, enum block_key key,
			const struct store_batch *batch, uint32_t *values)
{
	const uint64_t *const *column = batch->column;
	size_t count = batch->count;

#define EACH_ROW(value)							\
	for (size_t i = 0; i < count; i++)				\
		values[i] = (value);					\
	break
	switch (key) {
	case BLOCK_KEY_THREAD:
		EACH_ROW(index_thread(model, column[STORE_THREAD][i]));
	case BLOCK_KEY_SIZE:
		EACH_ROW(block_key_size(column[STORE_SIZE][i]));
	case BLOCK_KEY_SIZE_CLASS:
		EACH_ROW(histogram_bucket(column[STORE_SIZE][i]));
	case BLOCK_KEY_ARENA:
		EACH_ROW(heap_part(column[STORE_LAYOUT][i] & BLOCK_LAYOUT));
	case BLOCK_KEY_LIFETIME:
		EACH_ROW(class_of(model, column[STORE_HOW][i],
				  column[STORE_LIFETIME][i]));
	case BLOCK_KEY_MAPPING:
		EACH_ROW(map_index_path(model->mappings,
				pools_address(column[STORE_ADDRESS][i]),
				column[STORE_BEGIN][i]));
	case BLOCK_KEY_HEAP:
		EACH_ROW(pools_number(column[STORE_ADDRESS][i]));
	case BLOCK_KEY_COUNT:
		break;
	}
#undef EACH_ROW
}

void index_groups_values(const struct model *model,
			 const struct block_keys *keys,
			 const struct store_batch *batch,
			 struct index_values *values)
{
	for (unsigned i = 0; i < keys->count; i++)
		find_values(model, keys->list[i], batch, values->of[i]);
}

void index_values_at(const struct index_values *values, unsigned keys,
		     size_t row, uint32_t list[BLOCK_KEYS_MAX])
{
	for (unsigned i = 0; i < BLOCK_KEYS_MAX; i++)
		list[i] = i < keys ? values->of[i][row] : 0;
}

/* ---- the groups that exist ---- */

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

/* False: the worker has found it before. */
static bool is_new(struct found *found, const struct recent *pair)
{
	uint64_t mixed = place_of(pair->node, pair->values[0]) ^
			 place_of(pair->values[1], pair->values[2]) * 3;
	struct recent *at = &found->recent[hash_fold(mixed) >>
					   (64 - RECENT_BITS)];

	if (memcmp(at, pair, sizeof(*at)) == 0)
		return false;
	*at = *pair;
	return true;
}

static void note_pair(const struct finding *finding, struct found *found,
		      const struct recent *pair)
{
	struct index_group group = {
		pair->node, block_keys_number(&found->keys, pair->values),
	};
	uint64_t place = place_of(pair->node, group.key);

	if (table_number(&found->of_pair, place, found->count) < found->count)
		return;
	GROW(found->list, found->count, found->capacity);
	found->list[found->count++] = group;
	found->full = finding->max != 0 && found->count > finding->max;
}

static void begin_pairs(struct found *found)
{
	size_t size = sizeof(*found->recent) << RECENT_BITS;

	found->recent = grow_alloc(size);
	/* no node has this number */
	memset(found->recent, 0xff, size);
}

static void note_pairs(void *owner, unsigned worker,
		       const struct store_batch *batch)
{
	struct finding *finding = owner;
	struct found *found = &finding->worker[worker];
	size_t nodes = finding->model->contexts.node_count;
	struct index_values values;

	if (found->recent == NULL)
		begin_pairs(found);
	index_groups_values(finding->model, &found->keys, batch, &values);
	for (size_t i = 0; i < batch->count && !found->full; i++) {
		uint64_t node = node_of(finding->model, batch, i);
		struct recent pair;

		if (node >= nodes)
			continue;
		pair.node = (uint32_t)node;
		index_values_at(&values, found->keys.count, i, pair.values);
		if (is_new(found, &pair))
			note_pair(finding, found, &pair);
	}
}

static void note_places(void *owner, unsigned worker,
			const struct store_batch *batch)
{
	struct finding *finding = owner;
	struct found *found = &finding->worker[worker];
	uint32_t places[STORE_BATCH];
	struct index_values values;

	if (found->places == NULL)
		found->places = index_dense_bits(finding->dense);
	index_groups_values(finding->model, &found->keys, batch, &values);
	find_places(finding->model, finding->dense, &values, batch, places);
	for (size_t i = 0; i < batch->count; i++)
		found->places[places[i] / 64] |= UINT64_C(1) << places[i] % 64;
}

static void add_group(struct index_groups *groups, uint32_t node, uint32_t key)
{
	GROW(groups->list, groups->count, groups->capacity);
	groups->list[groups->count++] = (struct index_group){ node, key };
}

static void number_nodes(struct index_groups *groups,
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

static void number_pairs(struct index_groups *groups,
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

/* In the order of positions, as their numbers are. */
static void number_places(struct index_groups *groups)
{
	struct index_dense *dense = &groups->dense;
	uint32_t values[BLOCK_KEYS_MAX];
	size_t count = index_dense_seal(dense);

	for (uint64_t i = 0; i <= dense->cells / 64; i++)
		for (uint64_t word = dense->bits[i]; word != 0;
		     word &= word - 1) {
			uint64_t place = i * 64 +
				(unsigned)__builtin_ctzll(word);

			index_dense_values(dense, place, values);
			add_group(groups, index_dense_node(dense, place),
				  block_keys_number(&groups->keys, values));
		}
	ASSERT(groups->count == count);
}

static void forget(struct finding *finding)
{
	for (unsigned w = 0; w < STORE_WORKERS_MAX; w++) {
		struct found *found = &finding->worker[w];

		free(found->nodes);
		free(found->places);
		free(found->list);
		free(found->recent);
		block_keys_free(&found->keys);
		table_free(&found->of_pair);
	}
}

/* ---- the group of a row ---- */

static uint32_t group_of(const struct index_groups *groups, uint32_t node,
			 uint32_t key)
{
	return groups->cells.spans != NULL ?
		index_cells_find(&groups->cells, node, key) :
		table_get(&groups->of_pair, place_of(node, key));
}

static void number_dense(void *owner, unsigned worker,
			 const struct store_batch *batch, uint32_t *numbers)
{
	const struct index_groups *groups = owner;
	struct index_values values;

	(void)worker;
	index_groups_values(groups->model, &groups->keys, batch, &values);
	find_places(groups->model, &groups->dense, &values, batch, numbers);
	for (size_t i = 0; i < batch->count; i++)
		numbers[i] = index_dense_number(&groups->dense, numbers[i]);
}

static void number_rows(void *owner, unsigned worker,
			const struct store_batch *batch, uint32_t *numbers)
{
	const struct index_groups *groups = owner;
	size_t nodes = groups->model->contexts.node_count;
	uint32_t list[BLOCK_KEYS_MAX], key;
	struct index_values values;

	(void)worker;
	index_groups_values(groups->model, &groups->keys, batch, &values);
	for (size_t i = 0; i < batch->count; i++) {
		uint64_t node = node_of(groups->model, batch, i);

		numbers[i] = STORE_NONE;
		if (node >= nodes)
			continue;
		key = values.of[0][i];
		if (groups->keys.count > 1) {
			index_values_at(&values, groups->keys.count, i, list);
			if (!block_keys_find(&groups->keys, list, &key))
				continue;
		}
		numbers[i] = group_of(groups, (uint32_t)node, key);
	}
}

_Static_assert(TABLE_NONE == STORE_NONE, "what is in no table is in no group");

static void set_grouping(struct index_groups *groups)
{
	groups->grouping = (struct store_grouping){
		.groups = (uint32_t)groups->count,
		.column = STORE_NODE,
		.map = groups->of_node,
		.map_size = groups->model->contexts.node_count,
	};
	if (groups->keys.count == 0)
		return;
	groups->grouping.number = groups->dense.bits != NULL ? number_dense :
							     number_rows;
	groups->grouping.owner = groups;
	groups->grouping.columns = STORE_BIT(STORE_NODE) |
				   index_groups_columns(&groups->keys);
}

static void number(struct index_groups *groups, const struct finding *finding)
{
	if (groups->keys.count == 0)
		number_nodes(groups, finding);
	for (unsigned w = 0; w < STORE_WORKERS_MAX; w++)
		if (finding->worker[w].places != NULL)
			index_dense_add(&groups->dense,
					finding->worker[w].places);
	if (finding->dense != NULL)
		number_places(groups);
	for (unsigned w = 0; w < STORE_WORKERS_MAX; w++)
		number_pairs(groups, &finding->worker[w]);
}

static void begin(struct index_groups *groups, const struct model *model)
{
	memset(groups, 0, sizeof(*groups));
	groups->model = model;
	block_keys_copy(&groups->keys, &model->keys);
}

static bool all_nodes(struct index_groups *groups)
{
	size_t count = groups->model->contexts.node_count;

	if (count > ALL_MAX)
		return false;
	groups->of_node = grow_alloc(count * sizeof(*groups->of_node));
	for (size_t node = 0; node < count; node++) {
		groups->of_node[node] = (uint32_t)node;
		add_group(groups, (uint32_t)node, 0);
	}
	set_grouping(groups);
	return true;
}

bool index_groups_all(struct index_groups *groups, const struct model *model,
		      uint64_t max)
{
	begin(groups, model);
	if (model->keys.count == 0)
		return all_nodes(groups);
	if (!index_dense_begin(&groups->dense, model, &model->keys) ||
	    groups->dense.cells > ALL_MAX ||
	    (max != 0 && groups->dense.cells > max)) {
		index_groups_free(groups);
		return false;
	}
	index_dense_fill(&groups->dense);
	number_places(groups);
	set_grouping(groups);
	return true;
}

int index_groups_find(struct index_groups *groups, const struct model *model,
		      struct store *store, const struct store_scan *scan,
		      uint64_t max)
{
	bool keyed = model->keys.count > 0;
	struct finding *finding = grow_zeroed(1, sizeof(*finding));
	int error;

	begin(groups, model);
	finding->model = model;
	finding->max = max;
	for (unsigned w = 0; w < STORE_WORKERS_MAX; w++)
		block_keys_copy(&finding->worker[w].keys, &model->keys);
	if (keyed && index_dense_begin(&groups->dense, model, &model->keys))
		finding->dense = &groups->dense;
	error = store_scan_each(store, scan, STORE_BIT(STORE_NODE) |
				index_groups_columns(&model->keys),
				!keyed ? note_nodes : finding->dense != NULL ?
				note_places : note_pairs, finding);
	if (error == 0)
		number(groups, finding);
	if (error == 0 && max != 0 && groups->count > max)
		error = -E2BIG;
	forget(finding);
	free(finding);
	ASSERT(groups->count < STORE_NONE);
	if (keyed && error == 0 && groups->dense.bits == NULL)
		index_cells_make(&groups->cells, groups->list, groups->count,
				 model->contexts.node_count);
	set_grouping(groups);
	return error;
}

void index_groups_free(struct index_groups *groups)
{
	free(groups->list);
	free(groups->of_node);
	index_cells_free(&groups->cells);
	index_dense_free(&groups->dense);
	table_free(&groups->of_pair);
	block_keys_free(&groups->keys);
}
