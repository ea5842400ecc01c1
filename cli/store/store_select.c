/*
 * store_select.c: see store_select.h.
 */
#include "cli/store/store_select.h"

#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "unwind/base/assertion.h"

struct store_select *store_select_new(struct store *store,
				      const struct store_scan *scan,
				      uint32_t columns, unsigned worker)
{
	struct store_select *select = grow_zeroed(1, sizeof(*select));

	select->scan = scan;
	select->columns = columns;
	select->worker = worker;
	select->reading = store_chunk_reader_new(store, scan->now);
	select->out = grow_alloc(STORE_COLUMNS * sizeof(*select->out));
	store_filter_init(&select->filter, scan, select->reading);
	return select;
}

void store_select_free(struct store_select *select)
{
	if (select == NULL)
		return;
	store_filter_free(&select->filter);
	store_chunk_reader_free(select->reading);
	free(select->out);
	free(select);
}

int store_select_go(struct store_select *select,
		    const struct store_chunk *chunk)
{
	enum store_verdict verdict;
	int error;

	store_chunk_reader_go(select->reading, chunk);
	verdict = store_filter_chunk(&select->filter, &error);
	if (error != 0)
		return error;
	select->all = verdict == STORE_ALL_ROWS;
	return verdict != STORE_NO_ROW;
}

/* Without a branch: which rows are kept is not predictable. */
static size_t list_rows(struct store_select *select, size_t count)
{
	size_t n = 0;

	for (size_t i = 0; i < count; i++) {
		select->rows[n] = (uint16_t)i;
		n += select->keep[i];
	}
	return n;
}

/* Fills in columns of the listed rows. */
static int fill(struct store_select *select, size_t block, uint32_t columns,
		size_t count, struct store_batch *batch)
{
	struct store_chunk_reader *reading = select->reading;
	bool all = count == store_chunk_reader_rows(reading, block);
	int error = 0;

	*batch = (struct store_batch){ .count = count };
	for (unsigned i = 0; i < STORE_COLUMNS && error == 0; i++) {
		if (!(columns & STORE_BIT(i)))
			continue;
		batch->column[i] = all ?
			store_chunk_reader_values(reading, i, block, &error) :
			select->out[i];
		if (!all)
			error = store_chunk_reader_pick(reading, i, block,
							select->rows, count,
							select->out[i]);
	}
	return error;
}

/* Drops listed rows that scan->keep rejects. */
static int ask_keeper(struct store_select *select, size_t block, size_t *count)
{
	const struct store_scan *scan = select->scan;
	struct store_batch batch;
	size_t n = 0;
	int error = fill(select, block, scan->keep_columns, *count, &batch);

	if (error != 0)
		return error;
	memset(select->keep, 1, *count);
	scan->keep(scan->keeper, select->worker, &batch, select->keep);
	for (size_t i = 0; i < *count; i++) {
		select->rows[n] = select->rows[i];
		n += select->keep[i] != 0;
	}
	*count = n;
	return 0;
}

/* Lists the selected rows of the block's *count rows, from row `from` on. */
static int find_rows(struct store_select *select, size_t block, uint64_t from,
		     size_t *count)
{
	uint64_t first = select->reading->chunk->first_row +
			 block * STORE_BLOCK;
	int error = 0;

	memset(select->keep, 1, *count);
	if (from > first)
		memset(select->keep, 0, from - first);
	if (!select->all)
		error = store_filter_block(&select->filter, block,
					   select->keep);
	if (error != 0)
		return error;
	*count = list_rows(select, *count);
	return select->scan->keep == NULL || *count == 0 ? 0 :
		ask_keeper(select, block, count);
}

int store_select_block(struct store_select *select, size_t block,
		       uint64_t from, struct store_batch *batch)
{
	size_t rows = store_chunk_reader_rows(select->reading, block),
	       count = rows;
	uint64_t first = select->reading->chunk->first_row +
			 block * STORE_BLOCK;
	bool all = select->all && from <= first && select->scan->keep == NULL;
	int error = 0;

	if (from >= first + rows)
		return 0;
	if (!all)
		error = find_rows(select, block, from, &count);
	if (error != 0 || count == 0)
		return error;
	error = fill(select, block, select->columns, count, batch);
	return error != 0 ? error : (int)count;
}
