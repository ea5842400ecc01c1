/*
 * test_grown.c: what was put there stays, what is new is zero, and the limit
 * holds.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "cli/base/room.h"
#include "cli/recorder/base/grown.h"

static void grows(void **state)
{
	struct grown grown = { .most = 1000000 };
	uint32_t i;

	(void)state;
	for (i = 0; grown_reach(&grown, (i + 1) * sizeof(i)); i++) {
		uint32_t *at = (uint32_t *)grown.at + i;

		assert_int_equal(*at, 0);
		*at = i;
	}
	assert_int_equal(i, 250000);
	assert_int_equal(grown.ready, grown.most);
	while (i-- > 0)
		assert_int_equal(((const uint32_t *)grown.at)[i], i);
	room_pages_free(grown.at, grown.ready);
}

static void nothing_is_had_beyond_the_limit(void **state)
{
	struct grown grown = { .most = 100 };

	(void)state;
	assert_false(grown_reach(&grown, 101));
	assert_int_equal(grown.ready, 0);
	assert_true(grown_reach(&grown, 1));
	assert_int_equal(grown.ready, 100);
	assert_false(grown_reach(&grown, 101));
	assert_true(grown_reach(&grown, 100));
	/* more than any machine has */
	grown.most = UINT64_MAX;
	assert_false(grown_reach(&grown, UINT64_C(1) << 62));
	assert_int_equal(grown.ready, 100);
	room_pages_free(grown.at, grown.ready);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(grows),
		cmocka_unit_test(nothing_is_had_beyond_the_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
