/*
 * rows.h: the tables of a report: contexts, or groups of them, with their
 * figures, in order.
 */
#ifndef GNOMON_ROWS_H
#define GNOMON_ROWS_H

#include <stddef.h>
#include <stdint.h>

#include "cli/model/model.h"
#include "cli/model/stats/figures.h"

struct row {
	struct figures figures;
	uint32_t node;		/* the context, or the largest of the group */
	uint32_t contexts;	/* how many the row stands for */
	uint64_t largest;	/* the sort key's value of `node` */
	uint64_t group;		/* what `group` returned */
};

struct rows {
	struct row *list;
	size_t count;		/* in the list */
	size_t nonzero;		/* of all, how many have anything of the key */
	enum figure key;
	uint64_t end_ns;	/* of the recording */
};

struct rows_query {
	enum figure key;	/* decides which context stands for a group */
	/* Costs for which it returns the same are one row; NULL: each is a
	 * row. */
	uint64_t (*group)(void *owner, const struct context_cost *cost);
	void *owner;
	/* Which contexts to take; NULL: all. */
	bool (*keep)(void *owner, uint32_t node,
		     const struct figures *figures);
	void *keeper;		/* its owner */
	/* Keep only so many, those that rows_sort puts first; 0: all. There
	 * may be millions of contexts, and a row is larger than a cost. */
	uint64_t limit;
};

/* Release with free(rows->list). */
void rows_collect(const struct model *model, const struct rows_query *query,
		  struct rows *rows);
/* By the query's key, largest first; equal ones in an order that does not
 * change. */
void rows_sort(struct rows *rows);
uint64_t row_value(const struct rows *rows, const struct row *row);

#endif
