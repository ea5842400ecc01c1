/*
 * table_block_counts.c: the table `block_counts`: the number and bytes of the
 * rows of `blocks`, by allocating and freeing thread. The store adds them up,
 * so SQLite sees one row for each pair of threads instead of each block.
 *
 *  I1  Rows add up to the rows of `blocks` with the same filters.
 */
#include <errno.h>
#include <stdlib.h>

#include "cli/base/grow.h"
#include "cli/base/table.h"
#include "cli/model/core/threads.h"
#include "cli/sql/sql_scan.h"
#include "cli/sql/sql_store.h"
#include "cli/sql/sql_tables.h"
#include "cli/store/store_cursor.h"

enum { THREAD = 1, FREE_THREAD, LIVE, BLOCKS, BYTES };

static const struct sql_column own[] = {
	{ "thread", SQL_INTEGER, .help = "allocating thread; NULL: unknown" },
	{ "free_thread", SQL_INTEGER, .help =
	  "freeing thread; NULL: not freed, or unknown" },
	{ "live", SQL_INTEGER, .help = "1: live; 0: ended" },
	{ "blocks", SQL_INTEGER, .help = "number of blocks" },
	{ "bytes", SQL_INTEGER, .help = "requested bytes" },
};

#define USED (STORE_BIT(STORE_THREAD) | STORE_BIT(STORE_END_THREAD) |	\
	      STORE_BIT(STORE_HOW) | STORE_BIT(STORE_SIZE))

struct thread_pair {
	uint32_t thread, free_thread;
	bool live;
	uint64_t blocks, bytes;
};

/* The pairs seen by one worker; the first worker's list is the result. */
struct tally {
	struct thread_pair *list;
	size_t count, capacity;
	struct table number;	/* by thread, free_thread and live */
};

struct counts {
	struct sql_scan scan;
	struct store *store;
	struct tally of[STORE_WORKERS_MAX];
};

static const struct sql_column *columns(unsigned *count)
{
	*count = sizeof(own) / sizeof(own[0]);
	return own;
}

/* ---- counting ---- */

static void add(struct tally *tally, const struct thread_pair *more)
{
	/* thread numbers are below 2^31, except STORE_NONE */
	uint64_t key = (uint64_t)more->thread << 33 |
		       (uint64_t)more->free_thread << 1 | more->live;
	uint32_t at = table_number(&tally->number, key, tally->count);

	if (at == tally->count) {
		GROW(tally->list, tally->count, tally->capacity);
		tally->list[tally->count++] = *more;
		return;
	}
	tally->list[at].blocks += more->blocks;
	tally->list[at].bytes += more->bytes;
}

static void take(void *owner, unsigned worker, const struct store_batch *batch)
{
	struct counts *counts = owner;
	const uint64_t *const *column = batch->column;

	for (size_t i = 0; i < batch->count; i++) {
		const struct thread_pair one = {
			.thread = (uint32_t)column[STORE_THREAD][i],
			.free_thread = (uint32_t)column[STORE_END_THREAD][i],
			.live = column[STORE_HOW][i] == STORE_LIVE,
			.blocks = 1, .bytes = column[STORE_SIZE][i],
		};

		add(&counts->of[worker], &one);
	}
}

/* One thread, if the scan needs rows in order. */
static int count_in_order(struct counts *counts)
{
	struct store_cursor *cursor = store_cursor_new(
		counts->store, &counts->scan.scan, USED);
	const struct store_batch *batch;
	int got;

	while ((got = store_cursor_next(cursor, &batch)) == 1)
		take(counts, 0, batch);
	store_cursor_free(cursor);
	return got;
}

static void join(struct counts *counts)
{
	for (unsigned worker = 1; worker < STORE_WORKERS_MAX; worker++)
		for (size_t i = 0; i < counts->of[worker].count; i++)
			add(&counts->of[0], &counts->of[worker].list[i]);
}

static bool begin(struct sql_cursor *cursor, struct buffer *why)
{
	struct counts *counts = grow_zeroed(1, sizeof(*counts));
	int error = 0;

	cursor->state = counts;
	counts->store = sql_store_take(cursor->trace, cursor->traces, why);
	if (counts->store == NULL ||
	    !sql_scan_make(&counts->scan, cursor, NULL, 0, why))
		return false;
	if (counts->scan.ordered)
		error = count_in_order(counts);
	else if (!counts->scan.nothing)
		error = store_scan_each(counts->store, &counts->scan.scan,
					USED, take, counts);
	join(counts);
	cursor->row = 0;
	cursor->end = counts->of[0].count;
	if (error == 0)
		return true;
	sql_store_explain(cursor->trace, error, why);
	return false;
}

static void finish(struct sql_cursor *cursor)
{
	struct counts *counts = cursor->state;

	if (counts->store != NULL)
		sql_store_release(cursor->trace);
	sql_scan_free(&counts->scan);
	for (unsigned worker = 0; worker < STORE_WORKERS_MAX; worker++) {
		free(counts->of[worker].list);
		table_free(&counts->of[worker].number);
	}
	free(counts);
}

/* ---- values ---- */

static void put_thread(const struct sql_cursor *cursor, uint32_t number,
		       sqlite3_context *to)
{
	const struct threads *threads = model_threads(cursor->trace->outline);

	if (number > 0 && number < threads->count)
		sql_number(to, threads->list[number].tid);
}

static void value(struct sql_cursor *cursor, unsigned column,
		  sqlite3_context *to)
{
	const struct counts *counts = cursor->state;
	const struct thread_pair *pair = &counts->of[0].list[cursor->row];

	switch (column) {
	case THREAD:
		put_thread(cursor, pair->thread, to);
		break;
	case FREE_THREAD:
		put_thread(cursor, pair->free_thread, to);
		break;
	case LIVE:
		sql_number(to, pair->live);
		break;
	case BLOCKS:
		sql_number(to, pair->blocks);
		break;
	case BYTES:
		sql_number(to, pair->bytes);
		break;
	}
}

const struct sql_table sql_table_block_counts = {
	.name = "block_counts",
	.help = "number of blocks by allocating and freeing thread: sums of "
		"the table blocks, computed quickly",
	.columns = columns,
	.filters = true,
	.begin = begin,
	.finish = finish,
	.value = value,
	.rows = 100,
};
