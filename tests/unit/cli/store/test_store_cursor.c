// LINK: random_rows.c
/*
 * test_store_cursor.c: rows one after the other, from anywhere; in another
 * order; by their numbers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "cli/store/store_cursor.h"
#include "tests/unit/cli/store/random_rows.h"

/* Of blocks of at least this size; 0: all. */
struct subject {
	struct random_rows rows;
	struct store *store;
	struct store_range range;
	struct store_term term;
	struct store_scan scan;
	uint64_t *selected;	/* numbers of rows */
	size_t count;
};

static void begin(struct subject *s, uint64_t seed, size_t allocs,
		  uint64_t size)
{
	*s = (struct subject){ .rows = random_rows_make(seed, allocs) };
	s->store = random_rows_store(&s->rows);
	s->range = (struct store_range){ size, UINT64_MAX };
	s->term = (struct store_term){ .column = STORE_SIZE,
				       .ranges = &s->range, .range_count = 1 };
	s->scan = (struct store_scan){ .terms = &s->term, .now = s->rows.end,
				       .term_count = size > 0 };
	s->selected = calloc(s->rows.count, sizeof(*s->selected));
	for (size_t i = 0; i < s->rows.count; i++)
		if (s->rows.list[i].size >= size)
			s->selected[s->count++] = i;
}

static void end(struct subject *s)
{
	store_close(s->store);
	random_rows_free(&s->rows);
	free(s->selected);
}

/* The rest is the selected rows from this place on, `most` of them. */
static void expect_from(struct subject *s, struct store_cursor *cursor,
			size_t at, size_t most)
{
	const struct store_batch *batch;
	size_t seen = 0;
	int result = 1;

	while (seen < most &&
	       (result = store_cursor_next(cursor, &batch)) > 0) {
		for (size_t i = 0; i < batch->count; i++) {
			uint64_t row = s->selected[at++];

			assert_int_equal(batch->column[STORE_ADDRESS][i],
				random_value(&s->rows, row, STORE_ADDRESS,
					     0));
			assert_int_equal(batch->column[STORE_LIFETIME][i],
				random_value(&s->rows, row, STORE_LIFETIME,
					     s->scan.now));
		}
		seen += batch->count;
	}
	assert_true(result >= 0);
	if (result == 0)
		assert_int_equal(at, s->count);
}

static void try_moves(struct subject *s)
{
	struct store_cursor *cursor = store_cursor_new(s->store, &s->scan,
			STORE_BIT(STORE_ADDRESS) | STORE_BIT(STORE_LIFETIME));
	uint64_t seed = 9;

	expect_from(s, cursor, 0, SIZE_MAX);
	for (unsigned i = 0; i < 60; i++) {
		uint64_t to = random_below(&seed, s->rows.count + 2), skip;
		size_t at = 0;

		store_cursor_seek(cursor, to);
		while (at < s->count && s->selected[at] < to)
			at++;
		if (random_below(&seed, 2)) {
			expect_from(s, cursor, at, 1);
			store_cursor_seek(cursor, to);
		}
		skip = random_below(&seed, random_below(&seed, 2) ? 100 :
						s->rows.count + 10);
		assert_int_equal(store_cursor_skip(cursor, skip), 0);
		at = at + skip < s->count ? at + skip : s->count;
		expect_from(s, cursor, at, random_below(&seed, 4) ? 3000 :
							SIZE_MAX);
	}
	store_cursor_free(cursor);
}

static void a_cursor_moves(void **state)
{
	struct subject s;

	(void)state;
	begin(&s, 1, 3000, 100);
	try_moves(&s);
	end(&s);
	begin(&s, 2, 250000, 0);
	try_moves(&s);
	end(&s);
	begin(&s, 3, 250000, 4096);
	try_moves(&s);
	end(&s);
}

/* ---- in another order ---- */

struct sorted {
	uint64_t key, row;
};

static int by_key(const void *a, const void *b)
{
	const struct sorted *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return x->row < y->row ? -1 : x->row > y->row;
}

static void try_order(struct subject *s, enum store_column column,
		      bool descending, uint64_t offset, uint64_t limit)
{
	struct sorted *sorted = calloc(s->count + 1, sizeof(*sorted));
	uint64_t *rows = calloc(limit + 1, sizeof(*rows)), count, expected;

	for (size_t i = 0; i < s->count; i++) {
		uint64_t value = random_value(&s->rows, s->selected[i],
					      column, s->scan.now);

		sorted[i] = (struct sorted){ descending ? ~value : value,
					     s->selected[i] };
	}
	qsort(sorted, s->count, sizeof(*sorted), by_key);
	assert_int_equal(store_order(s->store, &s->scan, column, descending,
				     offset, limit, rows, &count), 0);
	expected = offset > s->count ? 0 : s->count - offset;
	expected = expected < limit ? expected : limit;
	assert_int_equal(count, expected);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(rows[i], sorted[offset + i].row);
	free(sorted);
	free(rows);
}

static void rows_are_sorted(void **state)
{
	struct subject s;
	uint64_t seed = 3, count;

	(void)state;
	begin(&s, 5, 200000, 16);
	for (unsigned i = 0; i < 40; i++)
		try_order(&s, random_below(&seed, STORE_COLUMNS),
			  random_below(&seed, 2), random_below(&seed, 2) *
			  random_below(&seed, 1000),
			  random_below(&seed, 3000));
	try_order(&s, STORE_SIZE, true, s.count - 3, 10);
	try_order(&s, STORE_BEGIN, false, 0, s.count + 10);
	assert_int_equal(store_order(s.store, &s.scan, STORE_SIZE, true,
				     STORE_ORDER_MAX, 1, NULL, &count),
			 -E2BIG);
	end(&s);
}

/* A later chunk has the best row, and is read first; of all others, which are
 * equal, the first ones count. */
static void equal_ones_stay_in_their_order(void **state)
{
	struct subject s = { .rows = random_rows_make(7, 150000) };

	(void)state;
	for (size_t i = 0; i < s.rows.count; i++)
		s.rows.list[i].size = i == 65536 + 100 ? 1 : 5;
	s.store = random_rows_store(&s.rows);
	s.scan.now = s.rows.end;
	s.selected = calloc(s.rows.count, sizeof(*s.selected));
	for (size_t i = 0; i < s.rows.count; i++)
		s.selected[s.count++] = i;
	try_order(&s, STORE_SIZE, false, 0, 10);
	try_order(&s, STORE_SIZE, false, 5, 3000);
	end(&s);
}

/* ---- by number ---- */

static void rows_are_fetched(void **state)
{
	struct subject s;
	uint64_t seed = 3, rows[700], values[STORE_COLUMNS][700];
	uint64_t *columns[STORE_COLUMNS];

	(void)state;
	begin(&s, 6, 200000, 0);
	for (unsigned i = 0; i < STORE_COLUMNS; i++)
		columns[i] = values[i];
	for (size_t i = 0; i < 700; i++)
		rows[i] = i < 300 ? random_below(&seed, s.rows.count) :
				    130900 + i;
	assert_int_equal(store_fetch(s.store, rows, 700, s.scan.now, columns),
			 0);
	for (size_t i = 0; i < 700; i++)
		for (unsigned c = 0; c < STORE_COLUMNS; c++)
			assert_int_equal(values[c][i],
				random_value(&s.rows, rows[i], c,
					     s.scan.now));
	rows[5] = s.rows.count;
	columns[STORE_SIZE] = NULL;
	assert_int_equal(store_fetch(s.store, rows, 5, 0, columns), 0);
	assert_int_equal(store_fetch(s.store, rows, 6, 0, columns), -ERANGE);
	end(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_cursor_moves),
		cmocka_unit_test(rows_are_sorted),
		cmocka_unit_test(equal_ones_stay_in_their_order),
		cmocka_unit_test(rows_are_fetched),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
