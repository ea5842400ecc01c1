/*
 * store_edges.h: births and ends of selected rows in the order of their
 * numbers: what sweeps are made of. Private to the store.
 */
#ifndef GNOMON_STORE_EDGES_H
#define GNOMON_STORE_EDGES_H

#include "cli/store/store_group.h"

struct store_edge {
	uint64_t edge;		/* its number */
	uint64_t size;		/* of the block */
	uint32_t group;		/* or STORE_NONE */
	bool birth;		/* else an end */
};

/* Groups that edges may be in. */
#define STORE_EDGES_GROUPS ((UINT32_C(1) << 31) - 2)

/*
 * Calls `take` with all edges in order, some at a time, by the caller's thread.
 * `grouping` may be NULL. Takes some 250 MiB at most. As store_scan_each. Of
 * several edges of one number, which no writer makes, any is told.
 */
int store_edges_each(struct store *store, const struct store_scan *scan,
		     const struct store_grouping *grouping,
		     void (*take)(void *owner, const struct store_edge *edges,
				  size_t count),
		     void *owner);

#endif
