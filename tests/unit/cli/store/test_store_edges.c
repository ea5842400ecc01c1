// LINK: random_rows.c
/*
 * test_store_edges.c: edges in order, of windows so small that there are many
 * of them, and several rounds.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#define FEW 10
#define WINDOW ((size_t)1000)
#define CROSSINGS ((size_t)4000)
#define ROUND_MAX (UINT64_C(64) * WINDOW)
#include "cli/store/store_edges.c"

#include "tests/unit/cli/store/random_rows.h"

struct expected {
	struct store_edge *list;
	size_t count, seen;
};

static int by_number(const void *a, const void *b)
{
	const struct store_edge *x = a, *y = b;

	return x->edge < y->edge ? -1 : x->edge > y->edge;
}

static struct expected expect(const struct random_rows *rows, uint64_t size,
			      bool grouped)
{
	struct expected e = {
		.list = calloc(2 * rows->count + 1, sizeof(*e.list)),
	};

	for (size_t i = 0; i < rows->count; i++) {
		const struct store_row *row = &rows->list[i];
		uint32_t group = grouped && row->thread < 4 ? row->thread :
							      STORE_NONE;

		if (row->size < size)
			continue;
		e.list[e.count++] = (struct store_edge){
			row->alloc_edge, row->size, group, true };
		if (row->how != STORE_LIVE)
			e.list[e.count++] = (struct store_edge){
				row->end_edge, row->size, group, false };
	}
	qsort(e.list, e.count, sizeof(*e.list), by_number);
	return e;
}

static void see(void *owner, const struct store_edge *edges, size_t count)
{
	struct expected *e = owner;

	assert_true(count <= e->count - e->seen);
	for (size_t i = 0; i < count; i++) {
		const struct store_edge *wanted = &e->list[e->seen++];

		assert_int_equal(edges[i].edge, wanted->edge);
		assert_int_equal(edges[i].size, wanted->size);
		assert_int_equal(edges[i].group, wanted->group);
		assert_int_equal(edges[i].alloc, wanted->alloc);
	}
}

static void try_edges(struct store *store, const struct random_rows *rows,
		      uint64_t size, bool grouped)
{
	const struct store_grouping threads = {
		.groups = 4, .column = STORE_THREAD,
	};
	const struct store_range range = { size, UINT64_MAX };
	const struct store_term term = { .column = STORE_SIZE,
					 .ranges = &range, .range_count = 1 };
	const struct store_scan scan = { .terms = &term, .term_count = 1 };
	struct expected e = expect(rows, size, grouped);

	assert_int_equal(store_edges_each(store, &scan,
					  grouped ? &threads : NULL, see, &e),
			 0);
	assert_int_equal(e.seen, e.count);
	free(e.list);
}

static void edges_come_in_order(void **state)
{
	static const size_t allocs[] = { 0, 1, 4, 6, 400, 1500, 20000,
					 150000 };

	(void)state;
	for (size_t i = 0; i < sizeof(allocs) / sizeof(*allocs); i++) {
		struct random_rows rows = allocs[i] == 0 ?
			(struct random_rows){ 0 } :
			random_rows_make(i + 50, allocs[i]);
		struct store *store = random_rows_store(&rows);

		try_edges(store, &rows, 0, false);
		try_edges(store, &rows, 0, true);
		try_edges(store, &rows, 100, true);
		try_edges(store, &rows, UINT64_MAX, true);
		store_close(store);
		random_rows_free(&rows);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(edges_come_in_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
