/*
 * test_weight.c: weights in whole numbers are those that a reader has by
 * floating point, and sums of them lose nothing.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "preload/ring/sampler.h"
#include "cli/model/core/weight.h"

static void as_the_reader(uint64_t size, uint64_t mean)
{
	struct weight_amount amount = weight_sampled(size, mean);
	double weight = -1 / expm1(-(double)(size ? size : 1) / (double)mean);
	double blocks = weight * (1 << WEIGHT_BLOCK_BITS);
	double bytes = weight * (double)size * (1 << WEIGHT_BYTE_BITS);

	assert_true(fabs((double)amount.blocks - blocks) <
		    0.6 + blocks * 0x1p-40);
	assert_true(fabs((double)amount.bytes - bytes) <
		    1 + bytes * 0x1p-24);
}

static void weights_are_those_of_the_reader(void **state)
{
	static const uint64_t means[] = { 1, 2, 3, 64, 1000, 4096, 512 << 10,
					  1 << 30, SAMPLER_MEAN_MAX };
	static const uint64_t sizes[] = { 0, 1, 2, 31, 32, 33, 1 << 20,
					  SAMPLER_MEAN_MAX,
					  UINT64_C(1) << 47 };

	(void)state;
	for (unsigned m = 0; m < 9; m++) {
		for (unsigned i = 0; i < 9; i++)
			as_the_reader(sizes[i], means[m]);
		for (unsigned i = 0; i < 20000; i++) {
			uint64_t x = sampler_mix(m << 20 | i);

			/* of all orders of magnitude */
			as_the_reader((x >> 8) % (means[m] * 40) >> x % 32,
				      means[m]);
		}
	}
}

static void sizes_that_nobody_has(void **state)
{
	(void)state;
	assert_int_equal(weight_sampled(UINT64_MAX, 1).blocks,
			 1 << WEIGHT_BLOCK_BITS);
	assert_int_equal(weight_sampled(UINT64_MAX, SAMPLER_MEAN_MAX).bytes,
			 UINT64_C(1) << 62);
}

static void without_a_sample_nothing_changes(void **state)
{
	uint16_t rest = 12345;

	(void)state;
	assert_int_equal(weight_block(100, 0).blocks, 1);
	assert_int_equal(weight_block(100, 0).bytes, 100);
	assert_int_equal(weight_whole(7, weight_block_bits(0), 60000), 7);
	assert_int_equal(weight_next(7, weight_block_bits(0), &rest), 7);
	assert_int_equal(weight_lifetime(77, 1, 0), 77);
}

static void pieces_make_the_whole(void **state)
{
	uint64_t all = 0, reported = 0;
	uint16_t rest = 0;

	(void)state;
	for (unsigned i = 0; i < 10000; i++) {
		uint64_t piece = weight_sampled(300 + i % 700, 512).blocks;

		all += piece;
		reported += weight_next(piece, WEIGHT_BLOCK_BITS, &rest);
		assert_int_equal(reported, all >> WEIGHT_BLOCK_BITS);
	}
}

static void lifetimes_of_weeks(void **state)
{
	uint64_t weeks = UINT64_C(1) << 50;
	uint64_t blocks = 3 << WEIGHT_BLOCK_BITS | 1 << (WEIGHT_BLOCK_BITS - 2);

	(void)state;
	assert_int_equal(weight_lifetime(weeks, blocks, 512),
			 weeks * 3 + weeks / 4);
	assert_int_equal(weight_lifetime(1000, blocks, 512), 3250);
	assert_int_equal(weight_lifetime(UINT64_MAX, blocks, 512), UINT64_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(weights_are_those_of_the_reader),
		cmocka_unit_test(sizes_that_nobody_has),
		cmocka_unit_test(without_a_sample_nothing_changes),
		cmocka_unit_test(pieces_make_the_whole),
		cmocka_unit_test(lifetimes_of_weeks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
