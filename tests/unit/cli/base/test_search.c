/*
 * test_search.c: the first that is beyond a key, in lists of every size up to
 * some, with equal entries; none, all; and counts as large as they get.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cli/base/search.h"

#define SIZE_MAX_TRIED 40u

static bool is_above(const void *list, size_t i, uint64_t key)
{
	return ((const uint64_t *)list)[i] > key;
}

static bool is_not_below(const void *list, size_t i, uint64_t key)
{
	return ((const uint64_t *)list)[i] >= key;
}

static void as_one_after_the_other_says(void **state)
{
	uint64_t list[SIZE_MAX_TRIED];

	(void)state;
	/* 1 1 1 3 3 3 5 …: each is there three times, and every other is not */
	for (size_t i = 0; i < SIZE_MAX_TRIED; i++)
		list[i] = i / 3 * 2 + 1;
	for (size_t count = 0; count <= SIZE_MAX_TRIED; count++)
		for (uint64_t key = 0; key <= SIZE_MAX_TRIED; key++) {
			size_t above = 0, from = 0;

			while (above < count && list[above] <= key)
				above++;
			while (from < count && list[from] < key)
				from++;
			assert_int_equal(search_first(list, count, is_above,
						      key), above);
			assert_int_equal(search_first(list, count,
						      is_not_below, key),
					 from);
		}
}

static void an_empty_list_is_not_looked_at(void **state)
{
	(void)state;
	assert_int_equal(search_first(NULL, 0, is_above, 0), 0);
}

struct counted {
	unsigned looked;
	bool outside;
	size_t count;
};

static bool reaches(const void *owner, size_t i, uint64_t key)
{
	struct counted *counted = (struct counted *)owner;

	counted->looked++;
	counted->outside |= i >= counted->count;
	return i >= key;
}

/* What is searched need not be a list. */
static void all_numbers(void **state)
{
	static const uint64_t keys[] = {
		0, 1, 12345, UINT64_C(1) << 63, (UINT64_C(1) << 63) + 1,
		UINT64_MAX - 1, UINT64_MAX
	};

	(void)state;
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		struct counted counted = { 0, false, SIZE_MAX };

		assert_int_equal(search_first(&counted, SIZE_MAX, reaches,
					      keys[i]), keys[i]);
		assert_false(counted.outside);
		assert_true(counted.looked <= 64);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_one_after_the_other_says),
		cmocka_unit_test(an_empty_list_is_not_looked_at),
		cmocka_unit_test(all_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
