/*
 * test_sort.c: lists in order, by several things at once.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cli/base/sort.h"

struct thing {
	uint64_t size;
	uint32_t number;
};

static int by_size(const void *a, const void *b)
{
	const struct thing *x = a, *y = b;

	return sort_down(x->size, y->size) ?: sort_up(x->number, y->number);
}

static void largest_first(void **state)
{
	struct thing list[] = {
		{ 1, 4 }, { UINT64_MAX, 3 }, { 7, 2 }, { 7, 1 }, { 0, 0 },
	};

	(void)state;
	SORT(list, sizeof(list) / sizeof(list[0]), by_size);
	assert_int_equal(list[0].number, 3);
	assert_int_equal(list[1].number, 1);
	assert_int_equal(list[2].number, 2);
	assert_int_equal(list[3].number, 4);
	assert_int_equal(list[4].number, 0);
}

static void nothing_is_in_order(void **state)
{
	struct thing *list = NULL;

	(void)state;
	SORT(list, 0, by_size);
	assert_null(list);
}

static void ways(void **state)
{
	(void)state;
	assert_true(sort_up(1, UINT64_MAX) < 0);
	assert_true(sort_up(UINT64_MAX, 1) > 0);
	assert_int_equal(sort_up(5, 5), 0);
	assert_true(sort_down(1, UINT64_MAX) > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(largest_first),
		cmocka_unit_test(nothing_is_in_order),
		cmocka_unit_test(ways),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
