/*
 * table_blocks.c: the table `blocks`: one row for each block of the recording,
 * from the trace's store (cli/store/store.h). The store evaluates comparisons
 * and filters (sql_scan.h), and reads only the columns that a statement uses.
 *
 * Values come from the current batch, one for each row that SQLite visits.
 * Threads decompress batches ahead (cli/store/store_readahead.h), since SQLite
 * itself takes most of a statement's time.
 */
#include <errno.h>
#include <stdlib.h>

#include "cli/base/grow.h"
#include "cli/model/core/blocks.h"
#include "cli/model/core/pools.h"
#include "cli/model/core/threads.h"
#include "cli/model/heap.h"
#include "cli/sql/sql_scan.h"
#include "cli/sql/sql_store.h"
#include "cli/sql/sql_tables.h"
#include "cli/store/store_readahead.h"
#include "cli/store/store_cursor.h"

enum { CONTEXT = 1, ADDRESS, SIZE, USABLE, BEGIN, END, LIFETIME, FATE,
       TEMPORARY, THREAD, THREAD_NAME, FREE_CONTEXT, FREE_THREAD, CHAIN, PLACE,
       BETWEEN, ARENA, MMAPPED, HEAP, WEIGHT, COLUMNS };

#define BIT(column) STORE_BIT(STORE_##column)

/* Columns, and the store's columns that each needs. */
static const struct {
	struct sql_column column;
	uint32_t from;
} own[] = {
	[CONTEXT - 1] = { { "context", SQL_INTEGER, .equal = true,
		.help = "allocating call stack: contexts.context" },
		BIT(NODE) },
	[ADDRESS - 1] = { { "address", SQL_INTEGER, .equal = true,
		.range = true, .help = "address of the block" }, BIT(ADDRESS) },
	[SIZE - 1] = { { "size", SQL_INTEGER, .equal = true, .range = true,
		.exact = true,
		.help = "requested bytes" }, BIT(SIZE) },
	[USABLE - 1] = { { "usable", SQL_INTEGER, .help =
		"bytes that the allocator provided; NULL: unknown" },
		BIT(USABLE) },
	[BEGIN - 1] = { { "begin_ns", SQL_INTEGER, .equal = true,
		.range = true, .help = "time of the allocation, since the "
		"start of the recording" }, BIT(BEGIN) },
	[END - 1] = { { "end_ns", SQL_INTEGER, .equal = true, .range = true,
		.help = "time of the end; NULL: live" }, BIT(END) },
	[LIFETIME - 1] = { { "lifetime_ns", SQL_INTEGER, .equal = true,
		.range = true, .help = "lifetime; for a live block, until the "
		"last event" }, BIT(BEGIN) | BIT(END) },
	[FATE - 1] = { { "fate", SQL_TEXT, .help =
		"live, freed, moved (by realloc, to another block), or lost "
		"(it must be gone, but no free was recorded)" }, BIT(HOW) },
	[TEMPORARY - 1] = { { "temporary", SQL_INTEGER, .help =
		"1: freed before its thread's next allocation (see "
		"--temporary)" },
		BIT(HOW) | BIT(BETWEEN) },
	[THREAD - 1] = { { "thread", SQL_INTEGER, .equal = true,
		.help = "kernel's id (tid) of the allocating thread; NULL: "
		"unknown" }, BIT(THREAD) },
	[THREAD_NAME - 1] = { { "thread_name", SQL_TEXT,
		.help = "last name of that thread" }, BIT(THREAD) },
	[FREE_CONTEXT - 1] = { { "free_context", SQL_INTEGER, .help =
		"call stack that freed it; NULL: not freed, or not recorded "
		"(--free-stacks)" }, BIT(END_NODE) },
	[FREE_THREAD - 1] = { { "free_thread", SQL_INTEGER, .equal = true,
		.help = "thread that freed it; NULL: not freed, or unknown" },
		BIT(END_THREAD) },
	[CHAIN - 1] = { { "chain", SQL_INTEGER, .equal = true, .range = true,
		.help = "number of its realloc chain, in its process; "
		"NULL: none" }, BIT(CHAIN) },
	[PLACE - 1] = { { "place", SQL_INTEGER, .equal = true, .range = true,
		.help = "position in the chain, from 1; NULL: no chain" },
		BIT(PLACE) },
	[BETWEEN - 1] = { { "between_allocations", SQL_INTEGER,
		.help = "allocations of its thread between its allocation and "
		"its end; NULL: live" }, BIT(HOW) | BIT(BETWEEN) },
	[ARENA - 1] = { { "arena", SQL_TEXT, .help =
		"part of the C library's heap" }, BIT(LAYOUT) },
	[MMAPPED - 1] = { { "mmapped", SQL_INTEGER, .help =
		"1: it has a mapping of its own; NULL: unknown" },
		BIT(LAYOUT) },
	[HEAP - 1] = { { "heap", SQL_TEXT, .help =
		"malloc, or the program's custom heap (selected by "
		"with_heap)" },
		BIT(ADDRESS) | BIT(FLAGS) },
	[WEIGHT - 1] = { { "weight", SQL_REAL, .help =
		"number of blocks it stands for: 1, except in samples" },
		BIT(SIZE) },
};
_Static_assert(sizeof(own) / sizeof(own[0]) == COLUMNS - 1,
	       "each column has a row");

static const struct sql_scan_column scanned[] = {
	{ CONTEXT, STORE_NODE, SQL_SCAN_CONTEXT },
	{ ADDRESS, STORE_ADDRESS, SQL_SCAN_NUMBER },
	{ SIZE, STORE_SIZE, SQL_SCAN_NUMBER },
	{ BEGIN, STORE_BEGIN, SQL_SCAN_TIME },
	{ END, STORE_END, SQL_SCAN_TIME },
	{ LIFETIME, STORE_LIFETIME, SQL_SCAN_SPAN },
	{ THREAD, STORE_THREAD, SQL_SCAN_THREAD },
	{ FREE_THREAD, STORE_END_THREAD, SQL_SCAN_THREAD },
	{ CHAIN, STORE_CHAIN, SQL_SCAN_NUMBER },
	{ PLACE, STORE_PLACE, SQL_SCAN_NUMBER },
};

struct block_rows {
	struct sql_scan scan;
	struct store *store;
	/* One of the two: with an OFFSET, few rows are needed. */
	struct store_readahead *ahead;
	struct store_cursor *skipping;
	const struct store_batch *batch;
};

static const struct sql_column *table_blocks_columns(unsigned *count)
{
	static struct sql_column list[COLUMNS - 1];

	if (list[0].name == NULL)
		for (unsigned i = 0; i < COLUMNS - 1; i++)
			list[i] = own[i].column;
	*count = COLUMNS - 1;
	return list;
}

/* ---- rows ---- */

static bool next_batch(struct sql_cursor *cursor, struct buffer *why)
{
	struct block_rows *state = cursor->state;
	int got = state->ahead != NULL ?
		store_readahead_next(state->ahead, &state->batch) :
		store_cursor_next(state->skipping, &state->batch);

	cursor->row = 0;
	cursor->end = got == 1 ? state->batch->count : 0;
	cursor->numbers[SIZE] = got == 1 ?
		state->batch->column[STORE_SIZE] : NULL;
	if (got >= 0)
		return true;
	sql_store_explain(cursor->trace, got, why);
	return false;
}

static uint32_t columns_used(uint64_t used)
{
	uint32_t columns = STORE_BIT(STORE_ROW);

	for (unsigned i = 1; i < COLUMNS; i++)
		if (sql_uses(used, i))
			columns |= own[i - 1].from;
	return columns;
}

/* False: cannot read the index. */
static bool begin_rows(const struct sql_cursor *cursor,
		       struct block_rows *state, struct buffer *why)
{
	uint32_t columns = columns_used(cursor->used);
	int error;

	if (cursor->skip == 0 || state->scan.ordered) {
		state->ahead = store_readahead_new(
			state->store, &state->scan.scan, columns,
			state->scan.ordered ? 0 : STORE_AHEAD_THREADS);
		return true;
	}
	state->skipping = store_cursor_new(state->store, &state->scan.scan,
					   columns);
	error = store_cursor_skip(state->skipping, cursor->skip);
	if (error != 0)
		sql_store_explain(cursor->trace, error, why);
	return error == 0;
}

/* Skip OFFSET rows one by one: the selection must see each row once. */
static bool pass_over(struct sql_cursor *cursor, struct buffer *why)
{
	uint64_t left = cursor->skip;

	if (!next_batch(cursor, why))
		return false;
	while (cursor->end > 0 && cursor->end <= left) {
		left -= cursor->end;
		if (!next_batch(cursor, why))
			return false;
	}
	cursor->row = cursor->end > 0 ? left : 0;
	return true;
}

static bool table_blocks_begin(struct sql_cursor *cursor, struct buffer *why)
{
	struct block_rows *state = grow_zeroed(1, sizeof(*state));

	cursor->state = state;
	state->store = sql_store_take(cursor->trace, cursor->traces, why);
	if (state->store == NULL ||
	    !sql_scan_make(&state->scan, cursor, scanned,
			   sizeof(scanned) / sizeof(scanned[0]), why))
		return false;
	cursor->row = cursor->end = 0;
	if (state->scan.nothing)
		return true;
	return begin_rows(cursor, state, why) &&
	       (state->scan.ordered ? pass_over(cursor, why) :
				      next_batch(cursor, why));
}

static void table_blocks_finish(struct sql_cursor *cursor)
{
	struct block_rows *state = cursor->state;

	store_readahead_free(state->ahead);
	store_cursor_free(state->skipping);
	if (state->store != NULL)
		sql_store_release(cursor->trace);
	sql_scan_free(&state->scan);
	free(state);
}

static uint64_t table_blocks_number(const struct sql_cursor *cursor)
{
	const struct block_rows *state = cursor->state;

	return state->batch->column[STORE_ROW][cursor->row];
}

/* ---- values ---- */

static uint64_t get(const struct sql_cursor *cursor, enum store_column column)
{
	const struct block_rows *state = cursor->state;

	return state->batch->column[column][cursor->row];
}

static void put_time(const struct sql_cursor *cursor, uint64_t stamp,
		     sqlite3_context *to)
{
	sql_number(to, model_since_start_ns(cursor->trace->outline, stamp));
}

static void put_lifetime(const struct sql_cursor *cursor, sqlite3_context *to)
{
	const struct block_rows *rows = cursor->state;
	const struct model *model = cursor->trace->outline;
	uint64_t begin = model_since_start_ns(model, get(cursor, STORE_BEGIN));
	uint64_t end = get(cursor, STORE_END);

	/* the same as in filters */
	end = model_since_start_ns(model, end == STORE_NEVER ?
				   rows->scan.scan.now : end);
	sql_number(to, end > begin ? end - begin : 0);
}

static void put_fate(uint64_t how, sqlite3_context *to)
{
	static const char *const fates[STORE_HOWS] = {
		[STORE_LIVE] = "live", [STORE_FREED] = "freed",
		[STORE_MOVED] = "moved", [STORE_LOST] = "lost",
	};

	if (how < STORE_HOWS)
		sqlite3_result_text(to, fates[how], -1, SQLITE_STATIC);
}

/* NULL: none, or unknown. */
static const struct thread *thread_of(const struct sql_cursor *cursor,
				      uint64_t number)
{
	const struct threads *threads = model_threads(cursor->trace->outline);

	return number > 0 && number < threads->count ?
		&threads->list[number] : NULL;
}

static void put_thread(const struct sql_cursor *cursor, uint64_t number,
		       sqlite3_context *to)
{
	const struct thread *thread = thread_of(cursor, number);

	if (thread != NULL)
		sql_number(to, thread->tid);
}

static void put_thread_name(const struct sql_cursor *cursor,
			    sqlite3_context *to)
{
	const struct thread *thread = thread_of(cursor,
						get(cursor, STORE_THREAD));

	sql_text(to, thread != NULL ? threads_name(thread) : NULL);
}

static void positive(sqlite3_context *to, uint64_t number)
{
	if (number > 0)
		sql_number(to, number);
}

static void put_heap(const struct sql_cursor *cursor, sqlite3_context *to)
{
	uint64_t address = get(cursor, STORE_ADDRESS);
	bool pooled = get(cursor, STORE_FLAGS) & STORE_POOLED;

	sql_text(to, pools_name_of(model_pools(cursor->trace->outline),
				   pooled ? pools_number(address) : 0));
}

static void put_layout(const struct sql_cursor *cursor, unsigned column,
		       sqlite3_context *to)
{
	unsigned layout = (unsigned)get(cursor, STORE_LAYOUT);

	if (column == ARENA)
		sqlite3_result_text(to, heap_part_names[heap_part(layout)], -1,
				    SQLITE_STATIC);
	else if (layout & GT_LAYOUT_KNOWN)
		sql_number(to, (layout & GT_LAYOUT_MMAPPED) != 0);
}

static void put_weight(const struct sql_cursor *cursor, sqlite3_context *to)
{
	const struct block block = { .size = get(cursor, STORE_SIZE) };

	sqlite3_result_double(to, model_weight(cursor->trace->outline, &block));
}

static void put_temporary(const struct sql_cursor *cursor,
			  sqlite3_context *to)
{
	const struct block_rows *state = cursor->state;
	uint64_t how = get(cursor, STORE_HOW);

	sql_number(to, (how == STORE_FREED || how == STORE_MOVED) &&
		   get(cursor, STORE_BETWEEN) <= state->scan.temporary);
}

/* The less common columns. */
static void put_more(const struct sql_cursor *cursor, unsigned column,
		     sqlite3_context *to)
{
	switch (column) {
	case TEMPORARY:
		put_temporary(cursor, to);
		break;
	case THREAD_NAME:
		put_thread_name(cursor, to);
		break;
	case FREE_CONTEXT:
		if (get(cursor, STORE_END_NODE) != STORE_NONE)
			sql_number(to, sql_id(cursor->trace, (uint32_t)get(
				cursor, STORE_END_NODE)));
		break;
	case FREE_THREAD:
		put_thread(cursor, get(cursor, STORE_END_THREAD), to);
		break;
	case CHAIN:
		positive(to, get(cursor, STORE_CHAIN));
		break;
	case PLACE:
		positive(to, get(cursor, STORE_PLACE));
		break;
	case BETWEEN:
		if (get(cursor, STORE_HOW) != STORE_LIVE)
			sql_number(to, get(cursor, STORE_BETWEEN));
		break;
	case HEAP:
		put_heap(cursor, to);
		break;
	case WEIGHT:
		put_weight(cursor, to);
		break;
	default:
		put_layout(cursor, column, to);
	}
}

static void table_blocks_value(struct sql_cursor *cursor, unsigned column,
			 sqlite3_context *to)
{
	switch (column) {
	case CONTEXT:
		sql_number(to, sql_id(cursor->trace, (uint32_t)get(
			cursor, STORE_NODE)));
		break;
	case ADDRESS:
		sql_number(to, pools_address(get(cursor, STORE_ADDRESS)));
		break;
	case USABLE:
		positive(to, get(cursor, STORE_USABLE));
		break;
	case BEGIN:
		put_time(cursor, get(cursor, STORE_BEGIN), to);
		break;
	case END:
		if (get(cursor, STORE_END) != STORE_NEVER)
			put_time(cursor, get(cursor, STORE_END), to);
		break;
	case LIFETIME:
		put_lifetime(cursor, to);
		break;
	case FATE:
		put_fate(get(cursor, STORE_HOW), to);
		break;
	case THREAD:
		put_thread(cursor, get(cursor, STORE_THREAD), to);
		break;
	default:
		put_more(cursor, column, to);
	}
}

const struct sql_table sql_table_blocks = {
	.name = "blocks",
	.help = "one row for each allocated block",
	.columns = table_blocks_columns,
	.filters = true,
	.begin = table_blocks_begin,
	.finish = table_blocks_finish,
	.next = next_batch,
	.runs = true,
	.skips = true,
	.number = table_blocks_number,
	.value = table_blocks_value,
	.rows = 10000000,
};
