/*
 * store_group.h: sums over selected rows, by group. A group is a number below
 * `groups`: of a node, a thread, or computed by the caller.
 */
#ifndef GNOMON_STORE_GROUP_H
#define GNOMON_STORE_GROUP_H

#include "cli/store/store_scan.h"

/*
 * How rows are assigned to groups. A row whose group is `groups` or above
 * (STORE_NONE) is in no group. Borrowed.
 */
struct store_grouping {
	uint32_t groups;
	/* By a column's value: map[value], STORE_NONE from map_size on; if map
	 * is NULL the value itself. */
	enum store_column column;
	const uint32_t *map;
	size_t map_size;
	/* Otherwise, if not NULL, this sets the group of each row of a batch,
	 * which has `columns`. Called by all workers. */
	void (*number)(void *owner, unsigned worker,
		       const struct store_batch *batch, uint32_t *groups);
	void *owner;
	uint32_t columns;	/* STORE_BITs */
};

/*
 * The weight of a block: for samples, the number of blocks and bytes it stands
 * for, in any fixed-point format of the caller. NULL: one block and its size.
 * Called by all workers.
 */
struct store_amount {
	uint64_t blocks, bytes;
};
struct store_weight {
	struct store_amount (*of)(const void *owner, uint64_t size);
	const void *owner;
};

/* Requested sums: each may need another column to be read. Blocks and bytes are
 * always summed. */
enum store_sum {
	STORE_SUM_FREES = 1,	/* and freed bytes */
	STORE_SUM_TEMPORARY = 2,
	STORE_SUM_LIVE = 4,	/* live at the end of the trace */
	STORE_SUM_LIFETIME = 8,
	STORE_SUM_FIRST_LAST = 16,
	STORE_SUM_ALIVE = 32,	/* at the moment `alive_at` */
	STORE_SUM_ALIVE_EDGE = 64	/* the same, with an edge number as
					 * `alive_at`: live directly after that
					 * edge */
};

/* Blocks, bytes and lifetimes are weighted; sums wrap around. */
struct store_sums {
	uint64_t blocks, bytes;
	uint64_t frees, freed_bytes;	/* freed or moved, not lost */
	uint64_t live_blocks, live_bytes;
	uint64_t temporary;		/* of the frees */
	double lifetime;	/* of the frees, ticks times blocks */
	uint64_t alive_blocks, alive_bytes;
	uint64_t first, last;	/* begin of the first and the last allocation by
				 * edge; 0 without blocks */
	uint64_t first_edge, last_edge;	/* their edges; UINT64_MAX and 0 without
					 * blocks */
};

struct store_group_options {
	unsigned sums;		/* enum store_sum */
	uint64_t temporary;	/* at most this many allocations between */
	uint64_t alive_at;
	struct store_weight weight;
};

/*
 * Sums by group. Sets all grouping->groups entries of `sums`. Takes at most as
 * much memory again for each worker. Errors as store_scan_each. Lifetimes are
 * exact while their sum is below 2^53; otherwise rounding depends on the order.
 */
int store_group(struct store *store, const struct store_scan *scan,
		const struct store_grouping *grouping,
		const struct store_group_options *options,
		struct store_sums *sums);

#endif
