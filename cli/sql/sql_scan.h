/*
 * sql_scan.h: which rows of a trace's store a statement wants, as a scan of the
 * store (cli/store/store_scan.h): of the filters, of the plain comparisons, and
 * of what the command counts at all.
 *
 *  I1  Rows that pass are those that sums counts with the same filters.
 */
#ifndef GNOMON_SQL_SCAN_H
#define GNOMON_SQL_SCAN_H

#include "cli/sql/sql_table.h"
#include "cli/store/store_scan.h"

/* Each column has one range at most; sets, of contexts and threads, are more. */
#define SQL_SCAN_SETS 8
#define SQL_SCAN_TERMS (STORE_COLUMNS + SQL_SCAN_SETS)

struct selection;

/* A plain comparison with a column of the table means that of the store. */
struct sql_scan_column {
	unsigned column;		/* of the table */
	enum store_column stored;
	enum { SQL_SCAN_NUMBER, SQL_SCAN_TIME, SQL_SCAN_SPAN, SQL_SCAN_CONTEXT,
	       SQL_SCAN_THREAD } is;
};

/* A block that a model tells of: how a row is found to be the same. */
struct sql_scan_block {
	uint64_t begin, address;
	uint64_t end;		/* STORE_NEVER: live; at a moment, always 0 */
	bool taken;		/* by a row: others may look the same */
};

struct sql_scan {
	struct store_scan scan;		/* what is handed to the store */
	struct store_term terms[SQL_SCAN_TERMS];
	struct store_range ranges[SQL_SCAN_TERMS];
	uint64_t *sets[SQL_SCAN_SETS];	/* of contexts, of threads */
	unsigned set_count;
	bool nothing;			/* no row can pass */
	struct sql_trace *trace;
	struct filter *filter;		/* all words; */
	struct selection *selection;	/* what those about blocks mean here */
	struct stack_filter *keeps;	/* and those about stacks; or NULL */
	uint64_t temporary;
	/* Where words are about other blocks, too: those that a model selects,
	 * sorted. */
	struct sql_scan_block *selected;
	size_t selected_count, selected_capacity;
	bool of_moment;
	bool ordered;			/* scan.keep wants rows in their order */
};

/*
 * For the cursor's filters and terms, which are about `columns`. False: they
 * make no sense, and `why` says so. To be freed in any case. The cursor has to
 * live as long.
 */
bool sql_scan_make(struct sql_scan *scan, const struct sql_cursor *cursor,
		   const struct sql_scan_column *columns, size_t count,
		   struct buffer *why);
void sql_scan_free(struct sql_scan *scan);

#endif
