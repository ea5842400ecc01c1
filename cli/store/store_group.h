/*
 * store_group.h: sums over selected rows, by group. A group is a number below
 * `groups`: of a node, a thread, or of what the caller makes of a row.
 */
#ifndef GNOMON_STORE_GROUP_H
#define GNOMON_STORE_GROUP_H

#include "cli/store/store_scan.h"

/*
 * How rows are put into groups. A row whose group is `groups` or above
 * (STORE_NONE) is in none. Borrowed.
 */
struct store_grouping {
	uint32_t groups;
	/* Of a column's value: map[value], beyond map_size none; without map
	 * the value itself. */
	enum store_column column;
	const uint32_t *map;
	size_t map_size;
	/* Or, if it is not NULL, this fills in a group for each row of a
	 * batch, which has `columns`. Called by all workers. */
	void (*number)(void *owner, unsigned worker,
		       const struct store_batch *batch, uint32_t *groups);
	void *owner;
	uint32_t columns;	/* STORE_BITs */
};

/*
 * What a block counts for: of a sample, what it stands for, in whatever fixed
 * point the caller likes. NULL: one block, its size. Called by all workers.
 */
struct store_amount {
	uint64_t blocks, bytes;
};
struct store_weight {
	struct store_amount (*of)(const void *owner, uint64_t size);
	const void *owner;
};

/* Which sums are wanted: each may need a column to be read. Blocks and bytes
 * always are there. */
enum store_sum {
	STORE_SUM_FREES = 1,	/* and freed bytes */
	STORE_SUM_TEMPORARY = 2,
	STORE_SUM_LIVE = 4,	/* live where the trace ended */
	STORE_SUM_LIFETIME = 8,
	STORE_SUM_FIRST_LAST = 16,
	STORE_SUM_ALIVE = 32,	/* at the moment `alive_at` */
	STORE_SUM_ALIVE_EDGE = 64	/* the same, `alive_at` being an edge: what
				 * was live right behind it */
};

/* Blocks, bytes and lifetimes are weighed; sums wrap around. */
struct store_sums {
	uint64_t blocks, bytes;
	uint64_t frees, freed_bytes;	/* freed or moved, not lost */
	uint64_t live_blocks, live_bytes;
	uint64_t temporary;		/* of the frees */
	double lifetime;	/* of the frees, ticks times blocks */
	uint64_t alive_blocks, alive_bytes;
	uint64_t first, last;	/* begin of the first and the last by edges;
				 * without blocks 0 */
	uint64_t first_edge, last_edge;	/* their edges, UINT64_MAX and 0 without */
};

struct store_group_options {
	unsigned sums;		/* enum store_sum */
	uint64_t temporary;	/* at most so many allocations between */
	uint64_t alive_at;
	struct store_weight weight;
};

/*
 * Sums by group. `sums` has grouping->groups entries, which are set. Takes as
 * much memory again for each worker, at most. As store_scan_each. Lifetimes are exact as
 * long as they are below 2^53 together; else they depend on the order by a
 * rounding.
 */
int store_group(struct store *store, const struct store_scan *scan,
		const struct store_grouping *grouping,
		const struct store_group_options *options,
		struct store_sums *sums);

#endif
