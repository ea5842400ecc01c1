/*
 * store_scan.h: the rows of a store that a predicate selects, in batches of at
 * most STORE_BATCH, by all cores. Chunks that cannot have such a row, by the
 * least and greatest of each column, are not read; of a batch without one, only
 * the columns that it was refused by are.
 */
#ifndef GNOMON_STORE_SCAN_H
#define GNOMON_STORE_SCAN_H

#include <stdatomic.h>

#include "cli/store/store.h"

#define STORE_BATCH 1024
#define STORE_WORKERS_MAX 32
#define STORE_TERMS_ASKED 60
#define STORE_TERMS_MAX 64	/* with those that sweeps add */

/*
 * What a column's value has to be: in one of the ranges or in the set; with
 * `not`, in none of them. A set has bit value % 64 of word value / 64; a value
 * of `set_size` or more is not in it. Of STORE_ROW sets of the size of the
 * store are meant, too. Borrowed.
 */
struct store_term {
	enum store_column column;
	bool not;
	const struct store_range *ranges;
	size_t range_count;
	const uint64_t *set;	/* NULL: none */
	uint64_t set_size;	/* in values */
};

/* Moments: a block was alive at t if begin <= t < end. */
struct store_moments {
	const uint64_t *stamps;	/* borrowed */
	size_t count;		/* 0: whenever */
};

/* Selected rows. Arrays are valid until the function that got the batch
 * returns. */
struct store_batch {
	size_t count;		/* 1 … STORE_BATCH */
	/* `count` values of each column that was wanted; of others NULL. */
	const uint64_t *column[STORE_COLUMNS];
};

/*
 * Which rows, and which of their columns. All has to hold. Zeroed it means all
 * rows.
 */
struct store_scan {
	const struct store_term *terms;		/* borrowed */
	size_t term_count;			/* at most STORE_TERMS_ASKED */
	/* alive at one of these moments, and at one of those */
	struct store_moments alive[2];
	uint64_t now;		/* lifetimes of live blocks end here */
	/*
	 * What terms cannot say: set keep[i] to 0 where row i of the batch is
	 * not wanted; they are 1. NULL: none. Called by all workers for what
	 * passed all the rest. The batch has `keep_columns`, STORE_BITs.
	 */
	void (*keep)(void *keeper, unsigned worker,
		     const struct store_batch *batch, uint8_t *keep);
	void *keeper;
	uint32_t keep_columns;
	/* Looked at each chunk; NULL: not cancelled. Any thread sets it. */
	const atomic_bool *cancel;
	/* Who hears of progress, rows done of how many; NULL: nobody. Called by
	 * any worker, one at a time, for each chunk. */
	void (*progress)(void *owner, uint64_t done, uint64_t all);
	void *progress_owner;
};

/* So many workers, numbered from 0, take part in a scan at most: for who
 * has something for each. */
unsigned store_scan_workers(const struct store *store);

/*
 * Calls `each` with all selected rows. Batches come in any order; rows of a
 * batch are in theirs. Several workers call at once, each with its number and
 * one at a time. `columns`: STORE_BITs, may be 0. Workers that are waited for
 * see what was written before, and what they wrote is seen after.
 *
 * 0; -ECANCELED; -EBADMSG: a column is damaged, -errno: reading fails, both
 * noted with file, place and remedy; then some batches were not told, and
 * results are worth nothing. Any thread; several scans of a store at once are
 * fine.
 */
int store_scan_each(struct store *store, const struct store_scan *scan,
		    uint32_t columns,
		    void (*each)(void *owner, unsigned worker,
				 const struct store_batch *batch),
		    void *owner);

/* How many rows are selected, and their sizes together. As store_scan_each. */
int store_scan_count(struct store *store, const struct store_scan *scan,
		     uint64_t *rows, uint64_t *bytes);

/* Rows of chunks that a scan would read at all: an upper bound of what it
 * selects, told without reading. */
uint64_t store_scan_estimate(const struct store *store,
			     const struct store_scan *scan);

#endif
