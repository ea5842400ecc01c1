// LINK: random_rows.c
/*
 * test_store_scan.c: random predicates select what a look at each row does, and
 * columns are what was written.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tests/unit/cli/store/random_rows.h"

#define PREDICATES 700
#define WORDS 32

/* A predicate with all that it points to. */
struct predicate {
	struct store_scan scan;
	struct store_term terms[4];
	struct store_range ranges[4][3];
	uint64_t sets[4][WORDS];
	uint64_t stamps[2][3];
};

static bool term_holds(const struct store_term *term, uint64_t value)
{
	bool in = false;

	for (size_t i = 0; i < term->range_count; i++)
		in |= term->ranges[i].min <= value &&
		      value <= term->ranges[i].max;
	if (term->set != NULL && value < term->set_size)
		in |= term->set[value / 64] >> value % 64 & 1;
	return in != term->not;
}

/* As `keep_odd`. */
static bool is_odd(uint64_t address, uint64_t size)
{
	return (address / 16 + size) % 3 != 0;
}

static bool holds(const struct random_rows *rows, size_t row,
		  const struct store_scan *scan)
{
	uint64_t begin = random_value(rows, row, STORE_BEGIN, 0);
	uint64_t end = random_value(rows, row, STORE_END, 0);

	for (size_t i = 0; i < scan->term_count; i++)
		if (!term_holds(&scan->terms[i],
				random_value(rows, row, scan->terms[i].column,
					     scan->now)))
			return false;
	for (unsigned w = 0; w < 2; w++) {
		const struct store_moments *moments = &scan->alive[w];
		bool alive = moments->count == 0;

		for (size_t i = 0; i < moments->count; i++)
			alive |= begin <= moments->stamps[i] &&
				 moments->stamps[i] < end;
		if (!alive)
			return false;
	}
	return scan->keep == NULL ||
	       is_odd(random_value(rows, row, STORE_ADDRESS, 0),
		      random_value(rows, row, STORE_SIZE, 0));
}

static void keep_odd(void *keeper, unsigned worker,
		     const struct store_batch *batch, uint8_t *keep)
{
	assert_ptr_equal(keeper, keep_odd);
	assert_true(worker < STORE_WORKERS_MAX);
	for (size_t i = 0; i < batch->count; i++)
		if (!is_odd(batch->column[STORE_ADDRESS][i],
			    batch->column[STORE_SIZE][i]))
			keep[i] = 0;
}

static void make_term(uint64_t *seed, const struct random_rows *rows,
		      struct predicate *p, unsigned n)
{
	struct store_term *term = &p->terms[n];
	uint64_t now = p->scan.now;

	*term = (struct store_term){
		.column = random_below(seed, STORE_COLUMNS),
		.not = random_below(seed, 4) == 0,
		.ranges = p->ranges[n],
		.range_count = random_below(seed, 6) ? 1 :
						random_below(seed, 4),
	};
	for (size_t i = 0; i < term->range_count; i++) {
		struct store_range *range = &p->ranges[n][i];
		size_t a = random_below(seed, rows->count);
		size_t b = random_below(seed, rows->count);

		range->min = random_below(seed, 3) == 0 ? 0 :
			random_value(rows, a, term->column, now);
		range->max = random_below(seed, 3) == 0 ? UINT64_MAX :
			random_value(rows, b, term->column, now);
	}
	if (random_below(seed, 3) != 0)
		return;
	if (random_below(seed, 3) != 0)
		term->range_count = 0;
	for (size_t i = 0; i < WORDS; i++)
		p->sets[n][i] = random_below(seed, 3) ? random_next(seed) :
						0 - random_below(seed, 2);
	term->set = p->sets[n];
	term->set_size = random_below(seed, WORDS * 64 + 1);
}

static void make_predicate(uint64_t *seed, const struct random_rows *rows,
			   struct predicate *p)
{
	*p = (struct predicate){
		.scan = {
			.terms = p->terms, .now = rows->end,
			.term_count = random_below(seed, 4),
		},
	};
	for (unsigned i = 0; i < p->scan.term_count; i++)
		make_term(seed, rows, p, i);
	for (unsigned w = 0; w < 2; w++) {
		if (random_below(seed, 3) != 0)
			continue;
		p->scan.alive[w].stamps = p->stamps[w];
		p->scan.alive[w].count = 1 + random_below(seed, 3);
		for (unsigned i = 0; i < 3; i++)
			p->stamps[w][i] = random_value(rows,
				random_below(seed, rows->count),
				random_below(seed, 2), 0);
	}
	if (random_below(seed, 4) == 0) {
		p->scan.keep = keep_odd;
		p->scan.keeper = keep_odd;
		p->scan.keep_columns = STORE_BIT(STORE_ADDRESS) |
				       STORE_BIT(STORE_SIZE);
	}
}

/* By workers: what they saw. */
struct seen {
	const struct random_rows *rows;
	const struct store_scan *scan;
	uint32_t columns;
	uint8_t *rows_seen;	/* how often */
};

static void see(void *owner, unsigned worker, const struct store_batch *batch)
{
	struct seen *seen = owner;

	assert_true(worker < STORE_WORKERS_MAX);
	assert_true(batch->count > 0 && batch->count <= STORE_BATCH);
	for (size_t i = 0; i < batch->count; i++) {
		uint64_t row = batch->column[STORE_ROW][i];

		assert_true(row < seen->rows->count);
		assert_true(i == 0 || row > batch->column[STORE_ROW][i - 1]);
		__atomic_fetch_add(&seen->rows_seen[row], 1, __ATOMIC_RELAXED);
		for (unsigned c = 0; c < STORE_COLUMNS; c++)
			if (seen->columns & STORE_BIT(c))
				assert_int_equal(batch->column[c][i],
					random_value(seen->rows, row, c,
						     seen->scan->now));
			else
				assert_null(batch->column[c]);
	}
}

static void try_predicate(struct store *store, const struct random_rows *rows,
			  const struct store_scan *scan, uint32_t columns)
{
	struct seen seen = {
		.rows = rows, .scan = scan,
		.columns = columns | STORE_BIT(STORE_ROW),
		.rows_seen = calloc(rows->count + 1, 1),
	};
	uint64_t count, bytes, selected = 0, sizes = 0;

	assert_int_equal(store_scan_each(store, scan, seen.columns, see,
					 &seen), 0);
	for (size_t i = 0; i < rows->count; i++) {
		bool wanted = holds(rows, i, scan);

		assert_int_equal(seen.rows_seen[i], wanted);
		selected += wanted;
		sizes += wanted ? rows->list[i].size : 0;
	}
	assert_int_equal(store_scan_count(store, scan, &count, &bytes), 0);
	assert_int_equal(count, selected);
	assert_int_equal(bytes, sizes);
	assert_true(store_scan_estimate(store, scan) >= selected);
	free(seen.rows_seen);
}

static void random_predicates_select_the_same(void **state)
{
	uint64_t seed = 42;

	(void)state;
	for (unsigned n = 0; n < PREDICATES; n += 100) {
		/* the last ones of more than one chunk */
		size_t allocs = n < 300 ? 1 + random_below(&seed, 5000) :
			n < 600 ? 20000 : 150000;
		struct random_rows rows = random_rows_make(seed, allocs);
		struct store *store = random_rows_store(&rows);
		unsigned tries = n < 600 ? 100 : 20;

		for (unsigned i = 0; i < tries; i++) {
			struct predicate p;

			make_predicate(&seed, &rows, &p);
			try_predicate(store, &rows, &p.scan,
				      (uint32_t)random_next(&seed) &
				      (STORE_BIT(STORE_COLUMNS) - 1));
		}
		store_close(store);
		random_rows_free(&rows);
	}
}

/* Of whole words of a set, some have no bit and the rest has all. */
static void a_set_with_a_hole(void **state)
{
	struct random_rows rows = random_rows_make(9, 1500);
	struct store *store = random_rows_store(&rows);
	uint64_t set[WORDS];
	struct store_term term = {
		.column = STORE_ROW, .set = set, .set_size = rows.count,
	};
	const struct store_scan scan = { .terms = &term, .term_count = 1,
					 .now = rows.end };

	(void)state;
	memset(set, 0xff, sizeof(set));
	try_predicate(store, &rows, &scan, 0);
	set[3] = 0;
	try_predicate(store, &rows, &scan, 0);
	term.not = true;
	try_predicate(store, &rows, &scan, 0);
	memset(set, 0, sizeof(set));
	try_predicate(store, &rows, &scan, 0);
	store_close(store);
	random_rows_free(&rows);
}

static void all_columns_come_back(void **state)
{
	struct random_rows rows = random_rows_make(7, 200000);
	struct store *store = random_rows_store(&rows);
	const struct store_scan all = { .now = rows.end };

	(void)state;
	assert_true(store_chunks(store) >= 4);
	try_predicate(store, &rows, &all, STORE_BIT(STORE_COLUMNS) - 1);
	assert_int_equal(store_scan_estimate(store, &all), rows.count);
	store_close(store);
	random_rows_free(&rows);
}

static void no_rows_are_a_store(void **state)
{
	struct random_rows rows = { 0 };
	struct store *store = random_rows_store(&rows);
	const struct store_scan all = { .now = 1 };
	uint64_t count, bytes;

	(void)state;
	assert_int_equal(store_scan_count(store, &all, &count, &bytes), 0);
	assert_int_equal(count, 0);
	assert_false(store_bounds(store, STORE_SIZE, &count, &bytes));
	store_close(store);
}

/* ---- progress, cancelling ---- */

struct watched {
	atomic_bool stop;
	uint64_t done, calls;
};

static void watch(void *owner, uint64_t done, uint64_t all)
{
	struct watched *watched = owner;

	assert_true(done > watched->done && done <= all);
	watched->done = done;
	watched->calls++;
}

static void stop_at_once(void *owner, unsigned worker,
			 const struct store_batch *batch)
{
	struct watched *watched = owner;

	(void)worker, (void)batch;
	atomic_store(&watched->stop, true);
}

static void a_scan_is_watched_and_cancelled(void **state)
{
	struct random_rows rows = random_rows_make(8, 300000);
	struct store *store = random_rows_store(&rows);
	struct watched watched = { 0 };
	const struct store_scan scan = {
		.progress = watch, .progress_owner = &watched,
		.cancel = &watched.stop,
	};
	uint64_t count, bytes;

	(void)state;
	assert_int_equal(store_scan_count(store, &scan, &count, &bytes), 0);
	assert_int_equal(watched.done, rows.count);
	assert_int_equal(watched.calls, store_chunks(store));
	watched.done = 0;
	assert_int_equal(store_scan_each(store, &scan, 0, stop_at_once,
					 &watched), -ECANCELED);
	assert_true(watched.done < rows.count);
	store_close(store);
	random_rows_free(&rows);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_columns_come_back),
		cmocka_unit_test(no_rows_are_a_store),
		cmocka_unit_test(a_set_with_a_hole),
		cmocka_unit_test(random_predicates_select_the_same),
		cmocka_unit_test(a_scan_is_watched_and_cancelled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
