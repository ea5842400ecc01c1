// LINK: random_rows.c
/* test_store_group.c: sums by group are those of a loop over all rows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "cli/store/store_group.h"
#include "tests/unit/cli/store/random_rows.h"

#define NODES 3600		/* random_rows.c has squares below it */

struct expected {
	struct store_sums sums[NODES];
	const struct random_rows *rows;
	const struct store_group_options *options;
};

static struct store_amount double_amount(const void *owner, uint64_t size)
{
	assert_ptr_equal(owner, "twice");
	return (struct store_amount){ 2, 3 * size };
}

static bool is_alive(const struct expected *e, size_t row)
{
	bool edge = e->options->sums & STORE_SUM_ALIVE_EDGE;
	uint64_t begin = random_value(e->rows, row, edge ? STORE_ALLOC_EDGE :
						    STORE_BEGIN, 0);
	uint64_t end = random_value(e->rows, row, edge ? STORE_END_EDGE :
						  STORE_END, 0);

	return begin <= e->options->alive_at && e->options->alive_at < end;
}

static void expect_row(struct expected *e, size_t i, uint32_t group)
{
	const struct store_row *row = &e->rows->list[i];
	struct store_sums *sums = &e->sums[group];
	struct store_amount amount = { 1, row->size };
	bool freed = row->how == STORE_FREED || row->how == STORE_MOVED;

	if (e->options->weight.of != NULL)
		amount = double_amount("twice", row->size);
	if (sums->blocks == 0 || row->alloc_edge < sums->first_edge) {
		sums->first = row->begin;
		sums->first_edge = row->alloc_edge;
	}
	if (sums->blocks == 0 || row->alloc_edge > sums->last_edge) {
		sums->last = row->begin;
		sums->last_edge = row->alloc_edge;
	}
	sums->blocks += amount.blocks;
	sums->bytes += amount.bytes;
	sums->frees += freed ? amount.blocks : 0;
	sums->freed_bytes += freed ? amount.bytes : 0;
	sums->temporary += freed && row->between <= e->options->temporary ?
		amount.blocks : 0;
	sums->live_blocks += row->how == STORE_LIVE ? amount.blocks : 0;
	sums->live_bytes += row->how == STORE_LIVE ? amount.bytes : 0;
	sums->alive_blocks += is_alive(e, i) ? amount.blocks : 0;
	sums->alive_bytes += is_alive(e, i) ? amount.bytes : 0;
	if (freed && row->end > row->begin)
		sums->lifetime += (double)(row->end - row->begin) *
				  (double)amount.blocks;
}

static void check(const struct expected *e, const struct store_sums *sums,
		  uint32_t groups)
{
	for (uint32_t i = 0; i < groups; i++) {
		const struct store_sums *x = &e->sums[i], *y = &sums[i];

		assert_int_equal(x->blocks, y->blocks);
		assert_int_equal(x->bytes, y->bytes);
		assert_int_equal(x->frees, y->frees);
		assert_int_equal(x->freed_bytes, y->freed_bytes);
		assert_int_equal(x->temporary, y->temporary);
		assert_int_equal(x->live_blocks, y->live_blocks);
		assert_int_equal(x->live_bytes, y->live_bytes);
		assert_int_equal(x->alive_blocks, y->alive_blocks);
		assert_int_equal(x->alive_bytes, y->alive_bytes);
		assert_int_equal(x->first, y->first);
		assert_int_equal(x->last, y->last);
		assert_true(x->lifetime == y->lifetime);
	}
}

static const struct store_group_options everything = {
	.sums = STORE_SUM_FREES | STORE_SUM_TEMPORARY | STORE_SUM_LIVE |
		STORE_SUM_LIFETIME | STORE_SUM_FIRST_LAST | STORE_SUM_ALIVE,
	.temporary = 2,
};

static void by_node(void **state)
{
	struct random_rows rows = random_rows_make(3, 160000);
	struct store *store = random_rows_store(&rows);
	struct store_group_options options = everything;
	struct expected *e = calloc(1, sizeof(*e));
	struct store_sums *sums = calloc(NODES, sizeof(*sums));
	const struct store_grouping nodes = {
		.groups = NODES, .column = STORE_NODE,
	};
	const struct store_scan all = { .now = rows.end };

	(void)state;
	options.alive_at = rows.list[rows.count / 2].begin;
	*e = (struct expected){ .rows = &rows, .options = &options };
	for (size_t i = 0; i < rows.count; i++)
		expect_row(e, i, rows.list[i].node);
	assert_int_equal(store_group(store, &all, &nodes, &options, sums), 0);
	check(e, sums, NODES);
	free(sums);
	free(e);
	store_close(store);
	random_rows_free(&rows);
}

/* Blocks of even sizes, by a map of threads that leaves one out; weighed;
 * alive behind an edge. */
static void by_map_of_some(void **state)
{
	static const uint32_t map[] = { 1, 0, STORE_NONE, 1 };
	struct random_rows rows = random_rows_make(4, 30000);
	struct store *store = random_rows_store(&rows);
	struct store_group_options options = everything;
	struct expected *e = calloc(1, sizeof(*e));
	struct store_sums sums[2];
	const struct store_grouping threads = {
		.groups = 2, .column = STORE_THREAD, .map = map, .map_size = 4,
	};
	const struct store_range range = { 64, 5000 };
	const struct store_term term = { .column = STORE_SIZE,
					 .ranges = &range, .range_count = 1 };
	const struct store_scan some = { .terms = &term, .term_count = 1,
					 .now = rows.end };

	(void)state;
	options.alive_at = rows.list[rows.count / 3].alloc_edge;
	options.sums ^= STORE_SUM_ALIVE | STORE_SUM_ALIVE_EDGE;
	options.weight = (struct store_weight){ double_amount, "twice" };
	*e = (struct expected){ .rows = &rows, .options = &options };
	for (size_t i = 0; i < rows.count; i++) {
		const struct store_row *row = &rows.list[i];

		if (row->size >= 64 && row->size <= 5000 && row->thread < 4 &&
		    map[row->thread] != STORE_NONE)
			expect_row(e, i, map[row->thread]);
	}
	assert_int_equal(store_group(store, &some, &threads, &options, sums),
			 0);
	check(e, sums, 2);
	free(e);
	store_close(store);
	random_rows_free(&rows);
}

static void number_pairs(void *owner, unsigned worker,
			 const struct store_batch *batch, uint32_t *groups)
{
	(void)owner, (void)worker;
	for (size_t i = 0; i < batch->count; i++)
		groups[i] = (uint32_t)(batch->column[STORE_THREAD][i] * 4 +
				       batch->column[STORE_HOW][i]);
}

static void by_what_the_caller_says(void **state)
{
	struct random_rows rows = random_rows_make(5, 20000);
	struct store *store = random_rows_store(&rows);
	struct store_group_options options = everything;
	struct expected *e = calloc(1, sizeof(*e));
	struct store_sums sums[12];
	/* threads 3 and 4 are beyond */
	const struct store_grouping pairs = {
		.groups = 12, .number = number_pairs,
		.columns = STORE_BIT(STORE_THREAD) | STORE_BIT(STORE_HOW),
	};
	const struct store_scan all = { .now = rows.end };

	(void)state;
	*e = (struct expected){ .rows = &rows, .options = &options };
	for (size_t i = 0; i < rows.count; i++)
		if (rows.list[i].thread < 3)
			expect_row(e, i, rows.list[i].thread * 4 +
					 rows.list[i].how);
	assert_int_equal(store_group(store, &all, &pairs, &options, sums), 0);
	check(e, sums, 12);
	free(e);
	store_close(store);
	random_rows_free(&rows);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_node),
		cmocka_unit_test(by_map_of_some),
		cmocka_unit_test(by_what_the_caller_says),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
