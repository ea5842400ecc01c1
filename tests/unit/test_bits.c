/*
 * test_bits.c: sets of pairs, against an array.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/model/bits.h"

#define THREADS 3
#define NUMBERS 20000

static bool set[THREADS][NUMBERS];

static void like_an_array(void **state)
{
	/* the ends of both ranges, too */
	static const uint32_t threads[THREADS] = { 0, 1, (1u << 30) - 1 };
	const uint64_t high = (UINT64_C(1) << 46) - NUMBERS;
	struct bits low_bits = { 0 }, high_bits = { 0 };

	(void)state;
	srand(2);
	for (unsigned i = 0; i < 9000; i++) {
		unsigned t = (unsigned)rand() % THREADS;
		unsigned n = (unsigned)rand() % NUMBERS;

		bits_set(&low_bits, threads[t], n);
		bits_set(&high_bits, threads[t], high + n);
		set[t][n] = true;
	}
	for (unsigned t = 0; t < THREADS; t++)
		for (unsigned n = 0; n < NUMBERS; n++) {
			assert_int_equal(bits_has(&low_bits, threads[t], n),
					 set[t][n]);
			assert_int_equal(bits_has(&high_bits, threads[t],
						  high + n), set[t][n]);
			assert_false(bits_has(&low_bits, threads[t],
					      high + n));
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
