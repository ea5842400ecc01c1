/*
 * rows.h: the answer to a query as a table: groups of allocations with their
 * measures, sorted.
 *
 * Called by the main thread.
 */
#ifndef GNOMON_QUERY_ROWS_H
#define GNOMON_QUERY_ROWS_H

#include "cli/base/pairset.h"
#include "cli/base/table.h"
#include "cli/query/query.h"

#define QUERY_NO_ROW UINT32_MAX
#define QUERY_PARTS 3		/* stacks listed for a row */

struct query_row {
	struct figures figures;
	uint32_t node;		/* context, or profile's node; of a group, the
				 * largest */
	uint32_t contexts;	/* number of contexts in the row */
	uint64_t largest;	/* sort value of `node` */
	uint32_t group;		/* see query_row_value */
};

struct query_rows {
	const struct query *query;
	const struct query_source *source;
	const struct contexts *contexts; /* the model's; NULL: several */
	struct query_row *list;		/* in order */
	size_t count;			/* in the list */
	size_t nonzero;			/* of all rows: sort value not 0 */
	bool grouped;			/* rows consist of stacks */
	bool exact;			/* own peaks are exact, not sums */
	bool of_contexts;		/* nodes are the model's */
	/* Values of keys by frame, and by stack: numbers of groups in these;
	 * empty for other keys. */
	struct profile_groups groups[QUERY_KEYS_MAX];
	/* With several keys: pairs of (number so far, value of the next). */
	struct pairset tuples[QUERY_KEYS_MAX - 1];
	struct table row_of;		/* group -> index; see query_row_of */
	/* Index of the inclusive key, or QUERY_KEYS_MAX; its values in one
	 * stack; see find_adding in rows.c. */
	unsigned inclusive;
	uint32_t *path;
	size_t path_capacity;
	uint32_t *adding;
};

/* One stack's part of a row. */
struct query_part {
	struct figures figures;
	uint32_t node;
};

/* The largest stacks of a row, largest first, and how many have a sort value
 * above 0. */
struct query_parts {
	struct query_part list[QUERY_PARTS];
	size_t count;
	uint64_t nonzero;
};

/* Query and source are borrowed. To be freed by query_rows_free. */
void query_rows_collect(const struct query *query,
			const struct query_source *source,
			struct query_rows *rows);
void query_rows_free(struct query_rows *rows);

uint64_t query_value_of_row(const struct query_rows *rows,
			    const struct query_row *row);
/* The value of a key in the row's group, to be printed. */
void query_row_value(const struct query_rows *rows,
		     const struct query_row *row, unsigned key,
		     struct query_value *value);
/* An empty value of a key: for the names of its members. */
void query_no_value(const struct query_rows *rows, unsigned key,
		    struct query_value *value);
/* *sum: the row including all that its functions called; false: not available
 * for such rows. */
bool query_row_called(const struct query_rows *rows,
		      const struct query_row *row, struct figures *sum);
/* For a grouped table with exclusive keys: the row of one of the model's costs,
 * or QUERY_NO_ROW. */
uint32_t query_row_of(struct query_rows *rows, uint32_t cost);
/* For any table: whether the filters keep a cost, and the rows that it belongs
 * to, each once; none if the query's limit cut those off. The list is valid
 * until the next call. */
bool query_rows_of(struct query_rows *rows, uint32_t cost,
		   const uint32_t **list, size_t *count);
/* The parts of each of the first `shown` rows of a grouped table; to be
 * freed. */
struct query_parts *query_rows_parts(struct query_rows *rows, size_t shown);

#endif
