/*
 * store_cursor.h: selected rows batch by batch, by one thread: for a table that
 * is scrolled, and for SQL. In the order of rows (by ends, then live ones), or
 * by numbers that store_order has sorted.
 */
#ifndef GNOMON_STORE_CURSOR_H
#define GNOMON_STORE_CURSOR_H

#include "cli/store/store_scan.h"

/* The most rows for store_order: offset + limit. */
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

/* The next selected rows, in order: 1, and *batch is valid until the next call;
 * 0: no more; otherwise as store_scan_each. */
int store_cursor_next(struct store_cursor *cursor,
		      const struct store_batch **batch);
/* Continue with the first selected row whose number is `row` or above. */
void store_cursor_seek(struct store_cursor *cursor, uint64_t row);
/* Read only the first `chunks` chunks; initially all. After them the cursor
 * returns no rows until the limit is changed. */
void store_cursor_limit(struct store_cursor *cursor, size_t chunks);
/* Skip `count` selected rows. 0, also at the end, or an error as above. */
int store_cursor_skip(struct store_cursor *cursor, uint64_t count);

/*
 * The numbers of the selected rows at positions offset … offset + limit - 1
 * when sorted by a column; equal rows in the order of rows. Uses all cores.
 * `rows` has room for `limit`; *count: how many there are. -E2BIG: offset +
 * limit is more than STORE_ORDER_MAX; otherwise as store_scan_each.
 */
int store_order(struct store *store, const struct store_scan *scan,
		enum store_column column, bool descending, uint64_t offset,
		uint64_t limit, uint64_t *rows, uint64_t *count);

/*
 * Columns of rows by row number, in any order: each array in `columns` that is
 * not NULL gets `count` values. `now`: see struct store_scan. -ERANGE: there is
 * no such row; otherwise as store_scan_each. Fast if rows of the same chunk are
 * adjacent.
 */
int store_fetch(struct store *store, const uint64_t *rows, size_t count,
		uint64_t now, uint64_t *const columns[STORE_COLUMNS]);

#endif
