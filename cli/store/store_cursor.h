/*
 * store_cursor.h: selected rows one batch after the other, by one thread: for a
 * table that is scrolled, and for SQL. In the order of rows (by ends, then live
 * ones), or by numbers that store_order has sorted.
 */
#ifndef GNOMON_STORE_CURSOR_H
#define GNOMON_STORE_CURSOR_H

#include "cli/store/store_scan.h"

/* Rows that store_order may be asked for: offset and limit together. */
#define STORE_ORDER_MAX (UINT64_C(1) << 22)

struct store_cursor;

/*
 * `scan` is copied; what it points to is borrowed until the cursor is freed.
 * Never NULL. Takes some hundred KiB. One thread at a time.
 */
struct store_cursor *store_cursor_new(struct store *store,
				      const struct store_scan *scan,
				      uint32_t columns);
void store_cursor_free(struct store_cursor *cursor);	/* NULL is allowed */

/* The next selected rows, in order: 1, and *batch is the cursor's own until it
 * is called again; 0: no more; else as store_scan_each. */
int store_cursor_next(struct store_cursor *cursor,
		      const struct store_batch **batch);
/* Go on with the first selected row whose number is `row` or above. */
void store_cursor_seek(struct store_cursor *cursor, uint64_t row);
/* Look at the first so many chunks of the store only; at first it looks at all.
 * Behind them there are no more rows until the limit is another one. */
void store_cursor_limit(struct store_cursor *cursor, size_t chunks);
/* Pass over so many selected rows. 0, also at the end, or as above. */
int store_cursor_skip(struct store_cursor *cursor, uint64_t count);

/*
 * Numbers of the selected rows that are at places offset … offset + limit - 1
 * in the order by a column; equal ones in the order of rows. By all cores.
 * `rows` has room for `limit`; *count: how many there are. -E2BIG: offset and
 * limit are more than STORE_ORDER_MAX; else as store_scan_each.
 */
int store_order(struct store *store, const struct store_scan *scan,
		enum store_column column, bool descending, uint64_t offset,
		uint64_t limit, uint64_t *rows, uint64_t *count);

/*
 * Columns of rows by their numbers, in any order: where `columns` has an array,
 * it gets `count` values. `now` as in a scan. -ERANGE: there is no such row;
 * else as store_scan_each. Fast where rows of a chunk stand together.
 */
int store_fetch(struct store *store, const uint64_t *rows, size_t count,
		uint64_t now, uint64_t *const columns[STORE_COLUMNS]);

#endif
