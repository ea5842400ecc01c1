/*
 * test_vector.c: what was put there stays, what is new is zero, and the limit
 * holds.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "cli/base/try_alloc.h"
#include "cli/recorder/base/vector.h"

static void grows(void **state)
{
	struct vector vector = { .max = 1000000 };
	uint32_t i;

	(void)state;
	for (i = 0; vector_reach(&vector, (i + 1) * sizeof(i)); i++) {
		uint32_t *at = (uint32_t *)vector.at + i;

		assert_int_equal(*at, 0);
		*at = i;
	}
	assert_int_equal(i, 250000);
	assert_int_equal(vector.ready, vector.max);
	while (i-- > 0)
		assert_int_equal(((const uint32_t *)vector.at)[i], i);
	try_alloc_pages_free(vector.at, vector.ready);
}

static void nothing_is_had_beyond_the_limit(void **state)
{
	struct vector vector = { .max = 100 };

	(void)state;
	assert_false(vector_reach(&vector, 101));
	assert_int_equal(vector.ready, 0);
	assert_true(vector_reach(&vector, 1));
	assert_int_equal(vector.ready, 100);
	assert_false(vector_reach(&vector, 101));
	assert_true(vector_reach(&vector, 100));
	/* more than any machine has */
	vector.max = UINT64_MAX;
	assert_false(vector_reach(&vector, UINT64_C(1) << 62));
	assert_int_equal(vector.ready, 100);
	try_alloc_pages_free(vector.at, vector.ready);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(grows),
		cmocka_unit_test(nothing_is_had_beyond_the_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
