/* test_code_map.c: code that comes to lie in the place of older code. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "preload/ring/area.h"
#include "cli/recorder/emit/code_map.h"

static struct code_map map;

static void ranges_that_touch_have_nothing_in_common(void **state)
{
	(void)state;
	assert_false(code_map_enter(&map, 0x10000, 48));
	assert_false(code_map_enter(&map, 0x10030, 0x1000));
	assert_false(code_map_enter(&map, 0xffe8, 24));
	assert_true(code_map_enter(&map, 0x10000, 16));
	assert_true(code_map_enter(&map, 0x11000, 0x100));
	assert_true(code_map_enter(&map, 0xff00, 0x10000));
	assert_false(code_map_enter(&map, 0x20030, 0));
}

static void far_ends_of_addresses(void **state)
{
	(void)state;
	assert_false(code_map_enter(&map, UINT64_MAX - 64, 64));
	assert_true(code_map_enter(&map, UINT64_MAX - 64, UINT64_MAX));
	assert_false(code_map_enter(&map, UINT64_MAX, UINT64_MAX));
	assert_false(code_map_enter(&map, 0, 16));
	assert_true(code_map_enter(&map, 0, 16));
}

static void what_does_not_fit_counts_as_met(void **state)
{
	uint64_t page = 0x7000000;
	unsigned n = 0;

	(void)state;
	while (!map.full && n++ < 2 * CODE_MAP_PAGES)
		code_map_enter(&map, page += CODE_MAP_PAGE, 32);
	assert_true(map.full);
	assert_true(n > CODE_MAP_PAGES / 2 - 16);
	assert_true(code_map_enter(&map, page + CODE_MAP_PAGE, 32));
	assert_false(code_map_enter(&map, 0x7000000 + CODE_MAP_PAGE + 64, 32));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ranges_that_touch_have_nothing_in_common),
		cmocka_unit_test(far_ends_of_addresses),
		cmocka_unit_test(what_does_not_fit_counts_as_met),
	};

	if (area_map(UINT64_C(64) << 20))
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
