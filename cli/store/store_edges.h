/*
 * store_edges.h: the edges (allocations and ends) of selected rows, in the
 * order of their numbers, for sweeps. Private to the store.
 */
#ifndef GNOMON_STORE_EDGES_H
#define GNOMON_STORE_EDGES_H

#include "cli/store/store_group.h"

struct store_edge {
	uint64_t edge;		/* its number */
	uint64_t size;		/* of the block */
	uint32_t group;		/* or STORE_NONE */
	bool alloc;		/* else an end */
};

/* The most groups. */
#define STORE_EDGES_GROUPS ((UINT32_C(1) << 31) - 2)

/*
 * Calls `take` with all edges in order, some at a time, in the caller's thread.
 * `grouping` may be NULL. Takes at most some 250 MiB. Errors as
 * store_scan_each. If several edges have the same number, which no writer
 * makes, any one of them is passed on.
 */
int store_edges_each(struct store *store, const struct store_scan *scan,
		     const struct store_grouping *grouping,
		     void (*take)(void *owner, const struct store_edge *edges,
				  size_t count),
		     void *owner);

#endif
