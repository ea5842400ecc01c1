/*
 * test_places.c: ranges that overlap, against an array; and how many ranges a
 * search looks at.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/model/core/places.h"

#define RANGES 60
#define SPACE 400

struct range { uint64_t from, to; };

static void like_an_array(void **state)
{
	struct range ranges[RANGES];
	struct places places = { 0 };

	(void)state;
	srand(11);
	for (uint32_t n = 0; n < RANGES; n++) {
		uint64_t start = (uint64_t)rand() % SPACE;
		uint64_t size = 1 + (uint64_t)rand() % (n % 7 ? 9 : 200);

		places_add(&places, start, size, n);
		ranges[n] = (struct range){ start, start + size - 1 };
		for (uint64_t from = 0; from < SPACE + 200; from += 3) {
			uint64_t to = from + from % 5, before = UINT64_MAX;
			size_t at = places_up_to(&places, to);
			const struct place *place;
			bool seen[RANGES] = { false };

			while ((place = places_next(&places, &at, from)) !=
			       NULL) {
				assert_true(place->start <= before);
				before = place->start;
				assert_false(seen[place->owner]);
				seen[place->owner] = true;
			}
			for (uint32_t i = 0; i <= n; i++)
				assert_int_equal(seen[i],
						 ranges[i].from <= to &&
						 ranges[i].to >= from);
		}
	}
	places_free(&places);
}

static void ends_of_all_addresses(void **state)
{
	struct places places = { 0 };
	size_t at;

	(void)state;
	places_add(&places, 100, 0, 1);
	assert_int_equal(places.count, 0);
	places_add(&places, UINT64_MAX - 9, 100, 2);
	places_add(&places, 0, UINT64_MAX, 3);
	at = places_up_to(&places, UINT64_MAX);
	assert_int_equal(places_next(&places, &at, UINT64_MAX)->owner, 2);
	assert_null(places_next(&places, &at, UINT64_MAX));
	at = places_up_to(&places, 0);
	assert_int_equal(places_next(&places, &at, 0)->owner, 3);
	places_free(&places);
}

/* Each range that is looked at takes one from `at`. */
static void many_ranges_are_no_walk(void **state)
{
	struct places places = { 0 };

	(void)state;
	for (uint32_t i = 0; i < 30000; i++)	/* in no order */
		places_add(&places, i * 7919ull % 30000 * 4096, 4096, i);
	for (uint64_t i = 0; i < 30000; i++) {
		size_t begin = places_up_to(&places, i * 4096 + 17);
		size_t at = begin;

		assert_int_equal(places_next(&places, &at, i * 4096 + 17)->
				 start, i * 4096);
		assert_null(places_next(&places, &at, i * 4096 + 17));
		assert_in_range(begin - at, 1, 2);
	}
	places_free(&places);
}

static void broken_orders_are_seen(void **state)
{
	struct places places = { 0 };

	(void)state;
	places_add(&places, 100, 50, 1);
	places_add(&places, 200, 50, 2);
	places_add(&places, 210, 10, 3);
	assert_true(places_is_valid(&places));
	places.list[1].start = 99;
	assert_false(places_is_valid(&places));
	places.list[1].start = 200;
	places.list[2].reach = 219; /* less than one before reaches */
	assert_false(places_is_valid(&places));
	places.list[2].reach = 249;
	assert_true(places_is_valid(&places));
	places_free(&places);
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
