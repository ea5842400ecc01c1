/*
 * sql_scan.h: translates a statement's conditions into a scan of the trace's
 * store (cli/store/store_scan.h): its filters, its plain comparisons, and what
 * the command counts at all.
 *
 *  I1  Selects the same rows as the table `sums` with the same filters.
 */
#ifndef GNOMON_SQL_SCAN_H
#define GNOMON_SQL_SCAN_H

#include "cli/sql/sql_table.h"
#include "cli/store/store_scan.h"

/* Each column has at most one range. Sets of contexts and threads come on
 * top. */
#define SQL_SCAN_SETS 8
#define SQL_SCAN_TERMS (STORE_COLUMNS + SQL_SCAN_SETS)

struct selection;

/* Maps a column of a table to a column of the store, for plain comparisons. */
struct sql_scan_column {
	unsigned column;		/* in the table */
	enum store_column stored;
	enum { SQL_SCAN_NUMBER, SQL_SCAN_TIME, SQL_SCAN_SPAN, SQL_SCAN_CONTEXT,
	       SQL_SCAN_THREAD } is;
};

/* A block that a model selected; identifies the same block in the store. */
struct sql_scan_block {
	uint64_t begin, address;
	uint64_t end;		/* STORE_NEVER: live; 0 if the model is of a
				 * moment */
	bool taken;		/* matched by a row: several blocks may be
				 * equal */
};

struct sql_scan {
	struct store_scan scan;		/* the scan for the store */
	struct store_term terms[SQL_SCAN_TERMS];
	struct store_range ranges[SQL_SCAN_TERMS];
	uint64_t *sets[SQL_SCAN_SETS];	/* of contexts or threads */
	unsigned set_count;
	bool nothing;			/* no row can match */
	struct sql_trace *trace;
	struct filter *filter;		/* all filters */
	struct selection *selection;	/* filters on blocks, resolved for this
					 * trace */
	struct stack_filter *keeps;	/* filters on stacks; or NULL */
	uint64_t temporary;
	/* If filters depend on other blocks: the blocks that a model selects,
	 * sorted. */
	struct sql_scan_block *selected;
	size_t selected_count, selected_capacity;
	bool of_moment;
	bool ordered;			/* scan.keep needs rows in order */
};

/*
 * Make the scan for the cursor's filters and terms on `columns`. False: they
 * are invalid; `why` says why. Call sql_scan_free in either case. The cursor
 * must outlive the scan.
 */
bool sql_scan_make(struct sql_scan *scan, const struct sql_cursor *cursor,
		   const struct sql_scan_column *columns, size_t count,
		   struct buffer *why);
void sql_scan_free(struct sql_scan *scan);

#endif
