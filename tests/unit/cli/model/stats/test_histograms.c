/*
 * test_histograms.c: buckets by powers of two, and those of contexts, which are sparse.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/model/stats/histograms.h"

#define COSTS 300

static void buckets(void **state)
{
	(void)state;
	assert_int_equal(histogram_bucket(0), 0);
	assert_int_equal(histogram_bucket(UINT64_MAX), HISTOGRAM_BUCKETS - 1);
	for (unsigned bucket = 1; bucket < HISTOGRAM_BUCKETS; bucket++) {
		uint64_t low = histogram_low(bucket);

		assert_int_equal(histogram_bucket(low), bucket);
		assert_int_equal(histogram_bucket(low - 1), bucket - 1);
		assert_int_equal(histogram_bucket(low + (low - 1)), bucket);
	}
}

static void of_contexts(void **state)
{
	static struct histogram want[COSTS][HISTOGRAM_KINDS];
	struct histograms all = { 0 };

	(void)state;
	srand(4);
	for (unsigned i = 0; i < 20000; i++) {
		unsigned cost = (unsigned)rand() % (1 + i / 60 % COSTS);
		enum histogram_kind kind = (unsigned)rand() % HISTOGRAM_KINDS;
		unsigned bucket = (unsigned)rand() % HISTOGRAM_BUCKETS;
		struct histogram_bucket *cell =
			histograms_cell(&all, cost, kind, bucket);

		cell->blocks++;
		cell->bytes += i;
		want[cost][kind].bucket[bucket].blocks++;
		want[cost][kind].bucket[bucket].bytes += i;
	}
	for (unsigned cost = 0; cost < COSTS; cost++)
		for (unsigned kind = 0; kind < HISTOGRAM_KINDS; kind++) {
			struct histogram sum = { 0 };

			histograms_add(&all, cost, kind, &sum);
			assert_memory_equal(&sum, &want[cost][kind],
					    sizeof(sum));
		}
	histograms_free(&all);
}

static void what_nobody_counted(void **state)
{
	struct histograms all = { 0 };
	struct histogram sum = { 0 }, none = { 0 };

	(void)state;
	histograms_add(&all, 5, HISTOGRAM_SIZES, &sum);
	histograms_cell(&all, 2, HISTOGRAM_SIZES, 3)->blocks = 1;
	histograms_add(&all, 5, HISTOGRAM_SIZES, &sum);
	histograms_add(&all, 1000000, HISTOGRAM_SIZES, &sum);
	assert_memory_equal(&sum, &none, sizeof(sum));
	histograms_free(&all);
}

static void broken_lists_are_seen(void **state)
{
	struct histograms all = { 0 };

	(void)state;
	for (unsigned cost = 0; cost < 3; cost++)
		histograms_cell(&all, cost, 0, cost)->blocks++;
	assert_true(histograms_is_valid(&all));
	all.cells[2].next = 3; /* not an older one */
	assert_false(histograms_is_valid(&all));
	all.cells[2].next = 0;
	all.first[1] = (uint32_t)all.cell_count;
	assert_false(histograms_is_valid(&all));
	all.first[1] = 2;
	all.cells[1].bucket = HISTOGRAM_BUCKETS;
	assert_false(histograms_is_valid(&all));
	all.cells[1].bucket = 0;
	assert_true(histograms_is_valid(&all));
	histograms_free(&all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(buckets),
		cmocka_unit_test(of_contexts),
		cmocka_unit_test(what_nobody_counted),
		cmocka_unit_test(broken_lists_are_seen),
	};

	return cmocka_run_group_tests_name("histograms", tests, NULL, NULL);
}
