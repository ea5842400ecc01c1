/*
 * store_cursor.c: see store_cursor.h: rows batch by batch, and by row number.
 */
#include "cli/store/store_cursor.h"

#include <errno.h>
#include <stdlib.h>

#include "cli/base/grow.h"
#include "cli/base/search.h"
#include "cli/store/store_select.h"
#include "unwind/base/assertion.h"

struct store_cursor {
	struct store *store;
	struct store_scan scan;
	uint32_t columns;
	struct store_select *select;
	struct store_batch batch;
	uint64_t from;		/* rows before it are skipped */
	size_t chunk, block;	/* the next ones */
	size_t limit;		/* chunks that may be read */
	bool entered;		/* in `chunk`, which has selected rows */
};

struct store_cursor *store_cursor_new(struct store *store,
				      const struct store_scan *scan,
				      uint32_t columns)
{
	struct store_cursor *cursor = grow_zeroed(1, sizeof(*cursor));

	cursor->store = store;
	cursor->scan = *scan;
	cursor->columns = columns;
	cursor->limit = store_chunks(store);
	cursor->select = store_select_new(store, &cursor->scan, columns, 0);
	return cursor;
}

void store_cursor_free(struct store_cursor *cursor)
{
	if (cursor == NULL)
		return;
	store_select_free(cursor->select);
	free(cursor);
}

static const struct store_chunk *chunk_at(const struct store_cursor *cursor)
{
	return cursor->chunk < cursor->limit ?
		&cursor->store->directory.chunks[cursor->chunk] : NULL;
}

static void leave_chunk(struct store_cursor *cursor)
{
	cursor->chunk++;
	cursor->block = 0;
	cursor->entered = false;
}

/* Enters the next chunk that may have selected rows. 1; 0: there is none; or an
 * error. */
static int enter_chunk(struct store_cursor *cursor)
{
	const struct store_chunk *chunk;
	int result;

	while (!cursor->entered) {
		chunk = chunk_at(cursor);
		if (chunk == NULL)
			return 0;
		/* relaxed: the cancel flag publishes no other data */
		if (cursor->scan.cancel != NULL &&
		    atomic_load_explicit(cursor->scan.cancel,
					 memory_order_relaxed))
			return -ECANCELED;
		result = store_select_go(cursor->select, chunk);
		if (result < 0)
			return result;
		if (result > 0)
			cursor->entered = true;
		else
			leave_chunk(cursor);
	}
	return 1;
}

int store_cursor_next(struct store_cursor *cursor,
		      const struct store_batch **batch)
{
	int result;

	*batch = &cursor->batch;
	while ((result = enter_chunk(cursor)) > 0) {
		uint32_t rows = chunk_at(cursor)->rows;

		while (cursor->block * STORE_BLOCK < rows) {
			result = store_select_block(cursor->select,
						    cursor->block++,
						    cursor->from,
						    &cursor->batch);
			if (result != 0)
				return result < 0 ? result : 1;
		}
		leave_chunk(cursor);
	}
	return result;
}

static bool begins_above(const void *list, size_t i, uint64_t row)
{
	return ((const struct store_chunk *)list)[i].first_row > row;
}

/* The chunk that has the row; after the last row, the number of chunks. */
static size_t chunk_of(const struct store *store, uint64_t row)
{
	const struct store_directory *directory = &store->directory;
	size_t behind = search_first(directory->chunks,
				     directory->chunk_count, begins_above,
				     row);

	return row >= store_rows(store) ? directory->chunk_count : behind - 1;
}

void store_cursor_seek(struct store_cursor *cursor, uint64_t row)
{
	size_t chunk = chunk_of(cursor->store, row);

	cursor->entered &= chunk == cursor->chunk;
	cursor->chunk = chunk;
	cursor->from = row;
	cursor->block = chunk_at(cursor) == NULL ? 0 :
		(row - chunk_at(cursor)->first_row) / STORE_BLOCK;
}

void store_cursor_limit(struct store_cursor *cursor, size_t chunks)
{
	ASSERT(chunks <= store_chunks(cursor->store));
	cursor->limit = chunks;
}

/* Skips the chunk if all its rows are selected and to be skipped, and none was
 * read. */
static bool skip_chunk(struct store_cursor *cursor, uint64_t *count)
{
	const struct store_chunk *chunk = chunk_at(cursor);

	if (!cursor->select->all || cursor->scan.keep != NULL ||
	    cursor->block > 0 || cursor->from > chunk->first_row ||
	    *count < chunk->rows)
		return false;
	*count -= chunk->rows;
	leave_chunk(cursor);
	return true;
}

int store_cursor_skip(struct store_cursor *cursor, uint64_t count)
{
	const struct store_batch *batch;
	int result = 1;

	cursor->select->columns = STORE_BIT(STORE_ROW);
	while (count > 0 && (result = enter_chunk(cursor)) > 0) {
		if (skip_chunk(cursor, &count))
			continue;
		result = store_cursor_next(cursor, &batch);
		if (result <= 0)
			break;
		if (batch->count > count) {
			store_cursor_seek(cursor,
					  batch->column[STORE_ROW][count]);
			break;
		}
		count -= batch->count;
	}
	cursor->select->columns = cursor->columns;
	return result < 0 ? result : 0;
}

/* ---- by number ---- */

/* How many of the rows, from the first on, are in the same block; stores their
 * positions in `places`. */
static size_t take_run(const struct store_chunk *chunk, const uint64_t *rows,
		       size_t count, uint16_t places[STORE_BLOCK])
{
	uint64_t block = (rows[0] - chunk->first_row) / STORE_BLOCK;
	size_t n = 0;

	while (n < count && n < STORE_BLOCK && rows[n] >= chunk->first_row &&
	       rows[n] - chunk->first_row < chunk->rows &&
	       (rows[n] - chunk->first_row) / STORE_BLOCK == block) {
		places[n] = (rows[n] - chunk->first_row) % STORE_BLOCK;
		n++;
	}
	return n;
}

/* Columns of rows of one block. */
static int fetch_run(struct store_chunk_reader *reading, size_t block,
		     const uint16_t *places, size_t count, size_t at,
		     uint64_t *const columns[STORE_COLUMNS])
{
	int error = 0;

	for (unsigned i = 0; i < STORE_COLUMNS && error == 0; i++)
		if (columns[i] != NULL)
			error = store_chunk_reader_pick(reading, i, block,
							places, count,
							columns[i] + at);
	return error;
}

int store_fetch(struct store *store, const uint64_t *rows, size_t count,
		uint64_t now, uint64_t *const columns[STORE_COLUMNS])
{
	struct store_chunk_reader *reading = store_chunk_reader_new(store, now);
	uint16_t places[STORE_BLOCK];
	int error = 0;

	for (size_t i = 0, n; i < count && error == 0; i += n) {
		const struct store_chunk *chunk;

		n = 0;
		if (rows[i] >= store_rows(store)) {
			error = -ERANGE;
			break;
		}
		chunk = &store->directory.chunks[chunk_of(store, rows[i])];
		if (chunk != reading->chunk)
			store_chunk_reader_go(reading, chunk);
		n = take_run(chunk, &rows[i], count - i, places);
		error = fetch_run(reading, (rows[i] - chunk->first_row) /
				  STORE_BLOCK, places, n, i, columns);
	}
	store_chunk_reader_free(reading);
	return error;
}
