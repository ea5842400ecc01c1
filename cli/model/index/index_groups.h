/*
 * index_groups.h: the groups of selected rows: pairs of a node and the values
 * of a model's block keys, as for costs. A separate scan finds the groups that
 * exist; then each row has a group number, for sums, peaks and timelines.
 */
#ifndef GNOMON_INDEX_GROUPS_H
#define GNOMON_INDEX_GROUPS_H

#include "cli/base/table.h"
#include "cli/model/model_state.h"
#include "cli/model/index/index_cells.h"
#include "cli/model/index/index_dense.h"
#include "cli/store/store_group.h"

struct index_group {
	uint32_t node;
	uint32_t key;		/* number of its values in `keys` */
};

/* Values of block keys, by key and row of a batch. */
struct index_values {
	uint32_t of[BLOCK_KEYS_MAX][STORE_BATCH];
};

/* Must not move in memory. Once groups were found, any thread may search. */
struct index_groups {
	const struct model *model;
	struct block_keys keys;		/* with tuples; in no particular
					 * order */
	struct index_group *list;
	size_t count, capacity;
	/* Index of groups: without keys by node, otherwise by node and key; by
	 * position if there are few tuples. */
	uint32_t *of_node;
	struct index_dense dense;	/* bits NULL: too many tuples */
	struct table of_pair;
	struct index_cells cells;	/* the same as of_pair, if keys are
					 * close together */
	/* For store_group and similar functions. */
	struct store_grouping grouping;
};

/*
 * The groups of all rows of a scan, by the keys of the model. 0; -E2BIG: there
 * are more than `max` (0: no limit); otherwise as store_scan_each. To be
 * released in any case.
 */
int index_groups_find(struct index_groups *groups, const struct model *model,
		      struct store *store, const struct store_scan *scan,
		      uint64_t max);
/*
 * The same without a scan, if few tuples are possible: each of them is a group,
 * even without rows. False: there may be more than `max`, or so many that a
 * scan is faster.
 */
bool index_groups_all(struct index_groups *groups, const struct model *model,
		      uint64_t max);
void index_groups_free(struct index_groups *groups);
/* The columns that hold the keys' values. */
uint32_t index_groups_columns(const struct block_keys *keys);
/* The values of all rows of a batch, which has those columns. */
void index_groups_values(const struct model *model,
			 const struct block_keys *keys,
			 const struct store_batch *batch,
			 struct index_values *values);
/* The values of one row for `keys` keys, followed by zeros. */
void index_values_at(const struct index_values *values, unsigned keys,
		     size_t row, uint32_t list[BLOCK_KEYS_MAX]);

#endif
