/* test_store_bits.c: numbers of each width are packed and unpacked. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "cli/base/hash.h"
#include "cli/store/store_bits.h"

static void widths_come_back(void **state)
{
	uint64_t numbers[STORE_BITS], words[64 * STORE_LANES + 1],
		back[STORE_BITS];

	(void)state;
	for (unsigned width = 0; width <= 64; width++) {
		uint64_t mask = width == 64 ? UINT64_MAX :
					      (UINT64_C(1) << width) - 1;
		size_t size = store_bits_words(width);

		for (unsigned i = 0; i < STORE_BITS; i++)
			numbers[i] = hash_fixed(i * 65 + width);
		words[size] = 0x5a;
		store_bits_pack(numbers, width, words);
		assert_int_equal(words[size], 0x5a);
		store_bits_unpack(words, width, width % 7, width, back);
		for (unsigned i = 0; i < STORE_BITS; i++)
			assert_int_equal(back[i], width +
				((numbers[i] & mask) << width % 7));
	}
}

static void a_number_lies_in_its_lane(void **state)
{
	uint64_t numbers[STORE_BITS] = { 0 }, words[3 * STORE_LANES];

	(void)state;
	/* the fourth of lane 5: bits 9 to 11 of its first word */
	numbers[3 * STORE_LANES + 5] = 5;
	store_bits_pack(numbers, 3, words);
	for (size_t i = 0; i < 3 * STORE_LANES; i++)
		assert_int_equal(words[i], i == 5 ? 5 << 9 : 0);
}

static void width_is_of_the_highest_bit(void **state)
{
	(void)state;
	assert_int_equal(store_bits_width(0), 0);
	assert_int_equal(store_bits_width(1), 1);
	assert_int_equal(store_bits_width(255), 8);
	assert_int_equal(store_bits_width(UINT64_MAX), 64);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(widths_come_back),
		cmocka_unit_test(a_number_lies_in_its_lane),
		cmocka_unit_test(width_is_of_the_highest_bit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
