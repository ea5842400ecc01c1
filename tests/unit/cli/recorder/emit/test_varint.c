/* test_varint.c: the quick ways to write a number against the plain one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include "cli/recorder/emit/varint.h"


typedef uint8_t *putter(uint8_t *to, uint64_t value);

static uint8_t *spread(uint8_t *to, uint64_t value)
{
	return varint_put_spread(to, value);
}

static uint8_t *byte(uint8_t *to, uint64_t value)
{
	return varint_put_byte(to, value);
}

static void compare(putter *put, uint64_t value)
{
	uint8_t right[VARINT_MAX], quick[VARINT_MAX + 4];
	size_t n = varint_put(right, value) - right;

	memset(quick, 0xa5, sizeof(quick));
	assert_int_equal(put(quick, value) - quick, n);
	assert_memory_equal(quick, right, n);
}

static void quick_ways_agree(void **state)
{
	static putter *const ways[] = { spread, byte };
	unsigned way, bit, i;

	(void)state;
	for (way = 0; way < 2; way++) {
		for (bit = 0; bit < 64; bit++)
			for (i = 0; i < 5; i++)
				compare(ways[way],
					(UINT64_C(1) << bit) + i - 2);
		for (i = 0; i < 70000; i++)
			compare(ways[way], i * UINT64_C(2654435761) >> i % 33);
	}
}

static void small_numbers_of_either_sign(void **state)
{
	(void)state;
	assert_int_equal(varint_zigzag(0), 0);
	assert_int_equal(varint_zigzag(-1), 1);
	assert_int_equal(varint_zigzag(1), 2);
	assert_int_equal(varint_zigzag(INT64_MIN), UINT64_MAX);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(quick_ways_agree),
		cmocka_unit_test(small_numbers_of_either_sign),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
