/*
 * rows.h: the answer to a query as a table: groups of allocations with their
 * figures, in order.
 *
 * Called by the main thread.
 */
#ifndef GNOMON_QUERY_ROWS_H
#define GNOMON_QUERY_ROWS_H

#include "cli/base/pairset.h"
#include "cli/base/table.h"
#include "cli/query/query.h"

#define QUERY_NO_ROW UINT32_MAX
#define QUERY_PARTS 3		/* stacks that stand for a row */

struct query_row {
	struct figures figures;
	uint32_t node;		/* the context, or profile's node; of a group the
				 * largest */
	uint32_t contexts;	/* how many the row stands for */
	uint64_t largest;	/* what `node` has of the order */
	uint32_t group;		/* see query_row_value */
};

struct query_rows {
	const struct query *query;
	const struct query_source *source;
	const struct contexts *contexts; /* its model's; NULL: of several */
	struct query_row *list;		/* in order */
	size_t count;			/* in the list */
	size_t nonzero;			/* of all, that have anything of it */
	bool grouped;			/* rows consist of stacks */
	bool exact;			/* own peaks are, and no sums */
	bool of_contexts;		/* nodes are the model's */
	/* Values of keys by frame, and by stack: numbers of groups of these;
	 * of other keys, empty. */
	struct profile_groups groups[QUERY_KEYS_MAX];
	/* Of several keys: pairs of (number so far, value of the next). */
	struct pairset tuples[QUERY_KEYS_MAX - 1];
	struct table row_of;		/* group -> index; see query_row_of */
	/* Of the inclusive key, the one of this index, QUERY_KEYS_MAX: there is
	 * none: its values in one stack; see find_adding of rows.c. */
	unsigned inclusive;
	uint32_t *path;
	size_t path_capacity;
	uint32_t *adding;
};

/* A stack's share of a row. */
struct query_part {
	struct figures figures;
	uint32_t node;
};

/* The largest ones, largest first, and how many have anything of the order. */
struct query_parts {
	struct query_part list[QUERY_PARTS];
	size_t count;
	uint64_t nonzero;
};

/* Query and source are borrowed. To be released. */
void query_rows_collect(const struct query *query,
			const struct query_source *source,
			struct query_rows *rows);
void query_rows_free(struct query_rows *rows);

uint64_t query_value_of_row(const struct query_rows *rows,
			    const struct query_row *row);
/* What the row's group is of a key, to be told. */
void query_row_value(const struct query_rows *rows,
		     const struct query_row *row, unsigned key,
		     struct query_value *value);
/* A value of a key of which nothing is known: for the names of its members. */
void query_no_value(const struct query_rows *rows, unsigned key,
		    struct query_value *value);
/* What the row comes to with all that its functions called, in `sum`; false:
 * this says nothing of such rows. */
bool query_row_called(const struct query_rows *rows,
		      const struct query_row *row, struct figures *sum);
/* Of a grouped table with exclusive keys: the row that a cost of the model
 * belongs to, or QUERY_NO_ROW. */
uint32_t query_row_of(struct query_rows *rows, uint32_t cost);
/* Of any table: whether a cost of the model counts, and the rows that it belongs
 * to, each once; none, if those were left out by the query's limit. The list is
 * valid until the next call. */
bool query_rows_of(struct query_rows *rows, uint32_t cost,
		   const uint32_t **list, size_t *count);
/* For each of the first `shown` rows of a grouped table; to be freed. */
struct query_parts *query_rows_parts(struct query_rows *rows, size_t shown);

#endif
