/*
 * store_scan.h: the rows of a store that a predicate selects, in batches of at
 * most STORE_BATCH, by all cores. Chunks that cannot have such a row, by the
 * least and greatest of each column, are not read. For batches without such a
 * row, only the columns of the failing terms are read.
 */
#ifndef GNOMON_STORE_SCAN_H
#define GNOMON_STORE_SCAN_H

#include <stdatomic.h>

#include "cli/store/store.h"

#define STORE_BATCH 1024
#define STORE_WORKERS_MAX 32
#define STORE_TERMS_ASKED 60
#define STORE_TERMS_MAX 64	/* with the terms that sweeps add */

/*
 * A condition on a column: its value is in one of the ranges or in the set;
 * with `not`, in none of them. A set has bit value % 64 of word value / 64;
 * values of `set_size` or more are not in it. For STORE_ROW, a set has one bit
 * for each row of the store. Borrowed.
 */
struct store_term {
	enum store_column column;
	bool not;
	const struct store_range *ranges;
	size_t range_count;
	const uint64_t *set;	/* NULL: none */
	uint64_t set_size;	/* in values */
};

/* Moments: a block is alive at t if begin <= t < end. */
struct store_moments {
	const uint64_t *stamps;	/* borrowed */
	size_t count;		/* 0: at any time */
};

/* Selected rows. Arrays are valid until the function that got the batch
 * returns. */
struct store_batch {
	size_t count;		/* 1 … STORE_BATCH */
	/* `count` values of each requested column; NULL for others. */
	const uint64_t *column[STORE_COLUMNS];
};

/* Conditions on rows; all have to hold. Zeroed: all rows. */
struct store_scan {
	const struct store_term *terms;		/* borrowed */
	size_t term_count;			/* at most STORE_TERMS_ASKED */
	/* alive at one of the first moments, and at one of the second */
	struct store_moments alive[2];
	uint64_t now;		/* end of live blocks' lifetimes */
	/*
	 * For conditions that terms cannot express: keep[i] are 1; set keep[i]
	 * to 0 if row i of the batch is not selected. NULL: none. Called by all
	 * workers for rows that meet all other conditions. The batch has
	 * `keep_columns`, STORE_BITs.
	 */
	void (*keep)(void *keeper, unsigned worker,
		     const struct store_batch *batch, uint8_t *keep);
	void *keeper;
	uint32_t keep_columns;
	/* Checked for each chunk; NULL: never cancelled. Any thread may set
	 * it. */
	const atomic_bool *cancel;
	/* Called with the rows done so far and their total; NULL: no progress.
	 * Called by any worker, one at a time, for each chunk. */
	void (*progress)(void *owner, uint64_t done, uint64_t all);
	void *progress_owner;
};

/* The most workers that take part in a scan, numbered from 0: to allocate data
 * for each. */
unsigned store_scan_workers(const struct store *store);

/*
 * Calls `each` with all selected rows. Batches come in any order; rows of a
 * batch are in order. Several workers call at once, each with its number and
 * one batch at a time. `columns`: STORE_BITs, may be 0. Workers see what the
 * caller wrote before, and the caller sees what they wrote.
 *
 * 0; -ECANCELED; -EBADMSG: a column is damaged, -errno: reading fails, both
 * noted with file, offset and remedy. On error some batches were not passed on,
 * and results are invalid. Any thread; several scans of a store may run at
 * once.
 */
int store_scan_each(struct store *store, const struct store_scan *scan,
		    uint32_t columns,
		    void (*each)(void *owner, unsigned worker,
				 const struct store_batch *batch),
		    void *owner);

/* The number of selected rows, and the sum of their sizes. As
 * store_scan_each. */
int store_scan_count(struct store *store, const struct store_scan *scan,
		     uint64_t *rows, uint64_t *bytes);

/* The rows of all chunks that a scan would read: an upper bound for selected
 * rows, without reading. */
uint64_t store_scan_estimate(const struct store *store,
			     const struct store_scan *scan);

#endif
