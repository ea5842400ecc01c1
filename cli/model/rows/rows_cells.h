/*
 * rows_cells.h: the group of a pair of node and key by two looks, where the keys of
 * each node lie close together, as sizes do: a node has a cell for each key from
 * its least to its greatest.
 *
 * One thread makes it; then any thread may ask.
 */
#ifndef GNOMON_ROWS_CELLS_H
#define GNOMON_ROWS_CELLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rows_group;

/* Which cells a node has: one for each key from `least` on, `more` behind it. */
struct rows_span {
	uint32_t first;			/* of its cells */
	uint32_t least, more;
	bool used;			/* else it has none */
};

struct rows_cells {
	struct rows_span *spans;	/* by node; NULL: keys lie far apart */
	uint32_t *list;			/* of groups, or STORE_NONE */
};

/* `list`: of groups, each of one of so many nodes. Zeroed before, to be released
 * afterwards. */
void rows_cells_make(struct rows_cells *cells, const struct rows_group *list,
		     size_t count, size_t nodes);
/* Where spans is not NULL: the group; STORE_NONE: there is none. */
uint32_t rows_cells_find(const struct rows_cells *cells, uint32_t node,
			 uint32_t key);
void rows_cells_free(struct rows_cells *cells);

#endif
