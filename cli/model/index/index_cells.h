/*
 * index_cells.h: maps a pair of node and key to its group with two array
 * accesses, if the keys of each node are close together, as sizes are: a node
 * has a cell for each key from its least to its greatest.
 *
 * One thread makes it; then any thread may search it.
 */
#ifndef GNOMON_INDEX_CELLS_H
#define GNOMON_INDEX_CELLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct index_group;

/* The cells of a node: one for each key from `min` to `min` + `more`. */
struct index_span {
	uint32_t first;			/* index of its first cell */
	uint32_t min, more;
	bool used;			/* else the node has no cells */
};

struct index_cells {
	struct index_span *spans;	/* by node; NULL: keys are too far
					 * apart */
	uint32_t *list;			/* of groups, or STORE_NONE */
};

/* `list`: groups, each of one of `nodes` nodes. `cells` is zeroed; to be
 * released. */
void index_cells_make(struct index_cells *cells, const struct index_group *list,
		      size_t count, size_t nodes);
/* The group; STORE_NONE: there is none. Only if `spans` is not NULL. */
uint32_t index_cells_find(const struct index_cells *cells, uint32_t node,
			  uint32_t key);
void index_cells_free(struct index_cells *cells);

#endif
