/* test_quantity.c: sizes, times and counts, in and out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>

#include "cli/base/text/quantity.h"

static uint64_t size_of(const char *text)
{
	uint64_t value = 0;

	assert_int_equal(quantity_parse_size(text, &value), 0);
	return value;
}

static void sizes_in(void **state)
{
	uint64_t value;

	(void)state;
	assert_int_equal(size_of("0"), 0);
	assert_int_equal(size_of("640"), 640);
	assert_int_equal(size_of("64k"), 65536);
	assert_int_equal(size_of("1.5M"), 3 << 19);
	assert_true(size_of("2G") == UINT64_C(2) << 30);
	assert_int_equal(size_of("4KiB"), 4096);
	assert_int_equal(size_of("4kB"), 4096);
	assert_int_equal(quantity_parse_size("", &value), -EINVAL);
	assert_int_equal(quantity_parse_size("k", &value), -EINVAL);
	assert_int_equal(quantity_parse_size("-1", &value), -EINVAL);
	assert_int_equal(quantity_parse_size("1x", &value), -EINVAL);
	assert_int_equal(quantity_parse_size("1kk", &value), -EINVAL);
	assert_int_equal(quantity_parse_size("99999999999T", &value), -ERANGE);
}

static uint64_t time_of(const char *text)
{
	uint64_t value = 0;

	assert_int_equal(quantity_parse_time(text, &value), 0);
	return value;
}

static void times_in(void **state)
{
	uint64_t value;

	(void)state;
	assert_int_equal(time_of("250ms"), 250000000);
	assert_true(time_of("10s") == UINT64_C(10000000000));
	assert_true(time_of("1h2m") == UINT64_C(3720000000000));
	assert_true(time_of("1.5s") == UINT64_C(1500000000));
	assert_int_equal(quantity_parse_time("10", &value), -EINVAL);
	assert_int_equal(quantity_parse_time("", &value), -EINVAL);
	assert_int_equal(quantity_parse_time("1h2", &value), -EINVAL);
}

static void sizes_out(void **state)
{
	char text[QUANTITY_TEXT];

	(void)state;
	assert_string_equal(quantity_size(text, 0), "0 B");
	assert_string_equal(quantity_size(text, 1023), "1023 B");
	assert_string_equal(quantity_size(text, 1024), "1.0K");
	assert_string_equal(quantity_size(text, 3 << 19), "1.5M");
	assert_string_equal(quantity_size(text, (1 << 20) - 1), "1.0M");
	assert_string_equal(quantity_size(text, -2048), "-2.0K");
	assert_string_equal(quantity_size(text, INT64_C(250) << 30), "250G");
}

static void others_out(void **state)
{
	char text[QUANTITY_TEXT];

	(void)state;
	assert_string_equal(quantity_time(text, 999), "999ns");
	assert_string_equal(quantity_time(text, 1500000), "1.5ms");
	assert_string_equal(quantity_time(text, UINT64_C(62000000000)),
			    "1m02s");
	assert_string_equal(quantity_time(text, UINT64_C(3723000000000)),
			    "1h02m03s");
	assert_string_equal(quantity_count(text, 0), "0");
	assert_string_equal(quantity_count(text, 999), "999");
	assert_string_equal(quantity_count(text, 1234567), "1,234,567");
	assert_string_equal(quantity_count(text, UINT64_MAX),
			    "18,446,744,073,709,551,615");
	assert_string_equal(COUNTED(1, "block"), "1 block");
	assert_string_equal(COUNTED(0, "more block"), "0 more blocks");
	assert_string_equal(COUNTED(2000, "block"), "2,000 blocks");
	assert_string_equal(COUNTED(UINT64_MAX, "other allocation"),
			    "18,446,744,073,709,551,615 other allocations");
	assert_string_equal(quantity_percent(text, 1, 3), "33.3%");
	assert_string_equal(quantity_percent(text, 1, 0), "0.0%");
	assert_string_equal(quantity_of(text, QUANTITY_BYTES, 640), "640 B");
	assert_string_equal(quantity_of(text, QUANTITY_COUNT, 1024), "1,024");
	assert_string_equal(quantity_of(text, QUANTITY_NS, 999), "999ns");
	quantity_of(text, QUANTITY_BYTES, UINT64_MAX);
	assert_int_not_equal(text[0], '-');
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sizes_in),
		cmocka_unit_test(times_in),
		cmocka_unit_test(sizes_out),
		cmocka_unit_test(others_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
