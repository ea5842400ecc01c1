/*
 * store_readahead.h: selected rows in order, as from a cursor (store_cursor.h),
 * but decompressed ahead by threads: for callers with work to do for each row,
 * as SQL.
 *
 * The caller's thread finds the first rows, so a caller that needs only these
 * pays no more. After the first chunk that may have selected rows, threads take
 * the following chunks in order, at most a few ahead of the caller.
 */
#ifndef GNOMON_STORE_READAHEAD_H
#define GNOMON_STORE_READAHEAD_H

#include "cli/store/store_scan.h"

/* Each needs memory, and one reader cannot keep more of them busy. */
#define STORE_AHEAD_THREADS 8
/* Limit of decompressed rows; two chunks are always allowed. */
#define STORE_AHEAD_BYTES ((size_t)32 << 20)

struct store_readahead;

/*
 * `scan` is copied; what it points to is borrowed until store_readahead_free.
 * scan->keep is called with worker numbers from 0 to STORE_AHEAD_THREADS.
 * `threads`: the most threads to use; with 1, `keep` gets all rows in order,
 * from one thread at a time. Never NULL. One thread at a time.
 */
struct store_readahead *store_readahead_new(struct store *store,
					    const struct store_scan *scan,
					    uint32_t columns, unsigned threads);
/* Waits for the threads, each of which ends after its current block of rows.
 * NULL is allowed. */
void store_readahead_free(struct store_readahead *ahead);

/*
 * The next selected rows: as store_cursor_next, but a batch may have as many
 * rows as a chunk. An error, with its note, comes after the last row before the
 * damage, however much was read ahead.
 */
int store_readahead_next(struct store_readahead *ahead,
			 const struct store_batch **batch);

#endif
