/*
 * test_bits.c: sets of numbers, against an array.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/model/core/bits.h"

#define NUMBERS 20000

static bool set[NUMBERS];

static void like_an_array(void **state)
{
	/* the end of the range, too */
	const uint64_t high = UINT64_MAX - NUMBERS;
	struct bits low_bits = { 0 }, high_bits = { 0 };

	(void)state;
	srand(2);
	for (unsigned i = 0; i < 9000; i++) {
		unsigned n = (unsigned)rand() % NUMBERS;

		bits_set(&low_bits, n);
		bits_set(&high_bits, high + n);
		set[n] = true;
	}
	for (unsigned n = 0; n < NUMBERS; n++) {
		assert_int_equal(bits_has(&low_bits, n), set[n]);
		assert_int_equal(bits_has(&high_bits, high + n), set[n]);
		assert_false(bits_has(&low_bits, high + n));
	}
	bits_free(&low_bits);
	bits_free(&high_bits);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(like_an_array),
	};

	return cmocka_run_group_tests_name("bits", tests, NULL, NULL);
}
