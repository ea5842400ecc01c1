/*
 * test_owned_ranges.c: ranges that overlap, against an array; and how many
 * ranges a search looks at.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/model/core/owned_ranges.h"

#define RANGES 60
#define SPACE 400

struct range { uint64_t from, to; };

static void like_an_array(void **state)
{
	struct range ranges[RANGES];
	struct owned_ranges owned_ranges = { 0 };

	(void)state;
	srand(11);
	for (uint32_t n = 0; n < RANGES; n++) {
		uint64_t start = (uint64_t)rand() % SPACE;
		uint64_t size = 1 + (uint64_t)rand() % (n % 7 ? 9 : 200);

		owned_ranges_add(&owned_ranges, start, size, n);
		ranges[n] = (struct range){ start, start + size - 1 };
		for (uint64_t from = 0; from < SPACE + 200; from += 3) {
			uint64_t to = from + from % 5, before = UINT64_MAX;
			size_t at = owned_ranges_up_to(&owned_ranges, to);
			const struct owned_range *owned_range;
			bool seen[RANGES] = { false };

			while ((owned_range = owned_ranges_next(
					&owned_ranges, &at, from)) != NULL) {
				assert_true(owned_range->start <= before);
				before = owned_range->start;
				assert_false(seen[owned_range->owner]);
				seen[owned_range->owner] = true;
			}
			for (uint32_t i = 0; i <= n; i++)
				assert_int_equal(seen[i],
						 ranges[i].from <= to &&
						 ranges[i].to >= from);
		}
	}
	owned_ranges_free(&owned_ranges);
}

static void ends_of_all_addresses(void **state)
{
	struct owned_ranges owned_ranges = { 0 };
	size_t at;

	(void)state;
	owned_ranges_add(&owned_ranges, 100, 0, 1);
	assert_int_equal(owned_ranges.count, 0);
	owned_ranges_add(&owned_ranges, UINT64_MAX - 9, 100, 2);
	owned_ranges_add(&owned_ranges, 0, UINT64_MAX, 3);
	at = owned_ranges_up_to(&owned_ranges, UINT64_MAX);
	assert_int_equal(
		owned_ranges_next(&owned_ranges, &at, UINT64_MAX)->owner, 2);
	assert_null(owned_ranges_next(&owned_ranges, &at, UINT64_MAX));
	at = owned_ranges_up_to(&owned_ranges, 0);
	assert_int_equal(owned_ranges_next(&owned_ranges, &at, 0)->owner, 3);
	owned_ranges_free(&owned_ranges);
}

/* Each range that is looked at takes one from `at`. */
static void many_ranges_are_no_walk(void **state)
{
	struct owned_ranges owned_ranges = { 0 };

	(void)state;
	for (uint32_t i = 0; i < 30000; i++)	/* in no order */
		owned_ranges_add(&owned_ranges, i * 7919ull % 30000 * 4096,
				 4096, i);
	for (uint64_t i = 0; i < 30000; i++) {
		size_t begin = owned_ranges_up_to(&owned_ranges, i * 4096 + 17);
		size_t at = begin;

		assert_int_equal(
			owned_ranges_next(&owned_ranges, &at, i * 4096 + 17)
				->start,
			i * 4096);
		assert_null(
			owned_ranges_next(&owned_ranges, &at, i * 4096 + 17));
		assert_in_range(begin - at, 1, 2);
	}
	owned_ranges_free(&owned_ranges);
}

static void broken_orders_are_seen(void **state)
{
	struct owned_ranges owned_ranges = { 0 };

	(void)state;
	owned_ranges_add(&owned_ranges, 100, 50, 1);
	owned_ranges_add(&owned_ranges, 200, 50, 2);
	owned_ranges_add(&owned_ranges, 210, 10, 3);
	assert_true(owned_ranges_is_valid(&owned_ranges));
	owned_ranges.list[1].start = 99;
	assert_false(owned_ranges_is_valid(&owned_ranges));
	owned_ranges.list[1].start = 200;
	owned_ranges.list[2].reach = 219; /* less than one before reaches */
	assert_false(owned_ranges_is_valid(&owned_ranges));
	owned_ranges.list[2].reach = 249;
	assert_true(owned_ranges_is_valid(&owned_ranges));
	owned_ranges_free(&owned_ranges);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(like_an_array),
		cmocka_unit_test(ends_of_all_addresses),
		cmocka_unit_test(many_ranges_are_no_walk),
		cmocka_unit_test(broken_orders_are_seen),
	};

	return cmocka_run_group_tests_name("places", tests, NULL, NULL);
}
