/*
 * test_pairset.c: pairs have numbers in the order in which they came, also
 * those that differ little, and keep them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cli/base/pairset.h"

#define SIDE 150u

static void numbers_stay(void **state)
{
	struct pairset set = { 0 };

	(void)state;
	for (int round = 0; round < 2; round++)
		for (uint32_t i = 0; i < SIDE * SIDE; i++)
			assert_int_equal(pairset_number(&set, i % SIDE,
							UINT32_MAX - i / SIDE),
					 i);
	assert_int_equal(set.pair_count, SIDE * SIDE);
	for (uint32_t i = 0; i < SIDE * SIDE; i++) {
		assert_int_equal(set.pairs[i].first, i % SIDE);
		assert_int_equal(set.pairs[i].second, UINT32_MAX - i / SIDE);
	}
	pairset_free(&set);
}

static void the_order_in_a_pair_matters(void **state)
{
	struct pairset set = { 0 };

	(void)state;
	assert_int_equal(pairset_number(&set, 1, 2), 0);
	assert_int_equal(pairset_number(&set, 2, 1), 1);
	assert_int_equal(pairset_number(&set, 0, 0), 2);
	assert_int_equal(pairset_number(&set, 1, 2), 0);
	pairset_free(&set);
	assert_int_equal(pairset_number(&set, 2, 1), 0);
	pairset_free(&set);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_stay),
		cmocka_unit_test(the_order_in_a_pair_matters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
