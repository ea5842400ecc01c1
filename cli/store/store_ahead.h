/*
 * store_ahead.h: selected rows in their order, as a cursor tells them
 * (store_cursor.h), but unpacked ahead by threads: for who has work to do with
 * each row, as SQL has.
 *
 * The first rows are found by the caller's thread, so that who wants only these
 * pays for no more. Behind the first chunk that may have such rows, threads take
 * the next ones in order, a few at most before the caller.
 */
#ifndef GNOMON_STORE_AHEAD_H
#define GNOMON_STORE_AHEAD_H

#include "cli/store/store_scan.h"

/* Each needs memory, and one reader can take no more. */
#define STORE_AHEAD_THREADS 8
/* Of rows that are ready, if two chunks take no more. */
#define STORE_AHEAD_BYTES ((size_t)32 << 20)

struct store_ahead;

/*
 * `scan` is copied; what it points to is borrowed until the end. Its `keep` is
 * called with numbers of workers from 0 to STORE_AHEAD_THREADS. `threads`: how
 * many there may be at most; with 1, `keep` gets all rows in their order, and is
 * called by one thread at a time. Never NULL. One thread at a time.
 */
struct store_ahead *store_ahead_new(struct store *store,
				    const struct store_scan *scan,
				    uint32_t columns, unsigned threads);
/* Threads end first, each behind the block of rows at which it is. NULL is
 * allowed. */
void store_ahead_free(struct store_ahead *ahead);

/*
 * The next selected rows: as store_cursor_next, but that a batch may have as
 * many rows as a chunk. An error, and its note, come behind the last row before
 * what is damaged, whatever was read ahead.
 */
int store_ahead_next(struct store_ahead *ahead,
		     const struct store_batch **batch);

#endif
