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

static void settled_ones_keep_their_pairs(void **state)
{
	struct pairset set = { 0 };

	(void)state;
	for (uint32_t i = 0; i < SIDE; i++)
		pairset_number(&set, i, i * 3);
	pairset_settle(&set);
	assert_null(set.index);
	assert_int_equal(set.pair_count, SIDE);
	for (uint32_t i = 0; i < SIDE; i++)
		assert_int_equal(set.pairs[i].second, i * 3);
	pairset_free(&set);
	assert_int_equal(pairset_number(&set, 7, 7), 0);
	pairset_free(&set);
}

static void broken_ones(void **state)
{
	struct pairset set = { 0 };
	uint64_t *slot, kept;

	(void)state;
	assert_true(pairset_is_valid(&set));
	for (uint32_t i = 0; i < 20; i++)
		pairset_number(&set, i, i * 3);
	assert_true(pairset_is_valid(&set));
	set.pairs[3].second++;
	assert_false(pairset_is_valid(&set));
	set.pairs[3].second--;
	set.index_mask--;
	assert_false(pairset_is_valid(&set));
	set.index_mask++;
	for (slot = set.index; *slot == UINT64_MAX;)
		slot++;
	kept = *slot;
	*slot = UINT64_MAX;
	assert_false(pairset_is_valid(&set));
	*slot = kept;
	kept = set.pair_capacity;
	set.pair_capacity = 1;
	assert_false(pairset_is_valid(&set));
	set.pair_capacity = kept;
	assert_true(pairset_is_valid(&set));
	pairset_free(&set);
	set.pair_count = 1;
	assert_false(pairset_is_valid(&set));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_stay),
		cmocka_unit_test(the_order_in_a_pair_matters),
		cmocka_unit_test(settled_ones_keep_their_pairs),
		cmocka_unit_test(broken_ones),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
