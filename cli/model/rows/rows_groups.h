/*
 * rows_groups.h: the groups of selected rows: pairs of a node and the values of
 * a model's block keys, as its costs are. Which there are is found in a scan of
 * its own; then each row's group is a number, for sums, peaks and timelines.
 */
#ifndef GNOMON_ROWS_GROUPS_H
#define GNOMON_ROWS_GROUPS_H

#include "cli/base/table.h"
#include "cli/model/model_state.h"
#include "cli/model/rows/rows_cells.h"
#include "cli/model/rows/rows_dense.h"
#include "cli/store/store_group.h"

struct rows_group {
	uint32_t node;
	uint32_t key;		/* the number of its values in `keys` */
};

/* Values of block keys, by key and row of a batch. */
struct rows_values {
	uint32_t of[BLOCK_KEYS_MAX][STORE_BATCH];
};

/* Does not move. Once found, any thread may ask. */
struct rows_groups {
	const struct model *model;
	struct block_keys keys;		/* with tuples; in no certain order */
	struct rows_group *list;
	size_t count, capacity;
	/* Without keys by node, else by node and key: by place, if there are
	 * few pairs. */
	uint32_t *of_node;
	struct rows_dense dense;	/* bits NULL: there are not */
	struct table of_pair;
	struct rows_cells cells;	/* the same, if keys lie close together */
	/* What store_group and its like want. */
	struct store_grouping grouping;
};

/*
 * The groups of all rows of a scan, by the keys of the model. 0; -E2BIG: there
 * are more than `most` (0: any number may be); else as store_scan_each. To be
 * released in any case.
 */
int rows_groups_find(struct rows_groups *groups, const struct model *model,
		     struct store *store, const struct store_scan *scan,
		     uint64_t most);
/*
 * The same without a scan, where few pairs can be: all of them are groups, also
 * those without rows. False: there may be more than `most`, or than are worth it.
 */
bool rows_groups_all(struct rows_groups *groups, const struct model *model,
		     uint64_t most);
void rows_groups_free(struct rows_groups *groups);
/* Columns that tell a row's values of the keys. */
uint32_t rows_groups_columns(const struct block_keys *keys);
/* The values of all rows of a batch, which has those columns. */
void rows_groups_values(const struct model *model,
			const struct block_keys *keys,
			const struct store_batch *batch,
			struct rows_values *values);
/* Those of one row, of so many keys; behind them 0. */
void rows_values_at(const struct rows_values *values, unsigned keys,
		    size_t row, uint32_t list[BLOCK_KEYS_MAX]);

#endif
