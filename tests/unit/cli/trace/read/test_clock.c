/* test_clock.c: ticks to nanoseconds, between pairs and beyond them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "cli/trace/read/clock.h"

static void test_no_pair(void **unused)
{
	struct clock clock = { 0 };

	(void)unused;
	assert_int_equal(clock_ns(&clock, 1000), 0);
	clock_free(&clock);
}

static void test_between(void **unused)
{
	struct clock clock = { 0 };

	(void)unused;
	clock_add(&clock, 1000, 1000000000);
	clock_add(&clock, 2000, 1100000000);
	clock_add(&clock, 3000, 1300000000);
	clock_add(&clock, 2500, 1);	/* does not ascend: ignored */
	assert_int_equal(clock_ns(&clock, 1000), 1000000000);
	assert_int_equal(clock_ns(&clock, 1500), 1050000000);
	assert_int_equal(clock_ns(&clock, 2500), 1200000000);
	assert_int_equal(clock_ns(&clock, 3500), 1400000000);
	assert_int_equal(clock_ns(&clock, 500), 950000000);
	clock_free(&clock);
}

/* Steps of the same length are so on both sides of a pair. */
static void test_rounding(void **unused)
{
	struct clock clock = { 0 };
	uint64_t tick, before, now;

	(void)unused;
	clock_add(&clock, 1000, 1000000);
	clock_add(&clock, 1010, 1000004);	/* three ticks: 1.2 ns */
	before = clock_ns(&clock, 960);
	for (tick = 963; tick < 1040; tick += 3) {
		now = clock_ns(&clock, tick);
		assert_in_range(now - before, 1, 2);
		before = now;
	}
	clock_free(&clock);
}

/* Where a moment lies does not depend on how even the pairs' intervals are. */
static void test_uneven(void **unused)
{
	enum { PAIRS = 40 };
	uint64_t ticks[PAIRS], now, wanted;
	struct clock clock = { 0 };

	(void)unused;
	for (unsigned i = 0; i < PAIRS; i++) {
		ticks[i] = (uint64_t)i * i * i * 100 + i * (i % 7) * 3000;
		if (i > 0 && ticks[i] <= ticks[i - 1])
			ticks[i] = ticks[i - 1] + 4;
		clock_add(&clock, ticks[i], (uint64_t)i << 32);
	}
	for (unsigned i = 1; i < PAIRS; i++)
		for (unsigned quarter = 0; quarter < 4; quarter++) {
			now = (ticks[i] - ticks[i - 1]) / 4 * quarter;
			wanted = ((uint64_t)(i - 1) << 32) +
				(uint64_t)((double)now * 4294967296.0 /
					   (double)(ticks[i] - ticks[i - 1]));
			now = clock_ns(&clock, ticks[i - 1] + now);
			assert_in_range(now, wanted - (wanted > 0),
					wanted + 1);
		}
	clock_free(&clock);
}

/* A recording that was cut in its first second has one pair. */
static void test_one_pair(void **unused)
{
	struct clock clock = { .tick_ps = 20000 };

	(void)unused;
	clock_add(&clock, 1000, 1000000000);
	assert_int_equal(clock_ns(&clock, 1000), 1000000000);
	assert_int_equal(clock_ns(&clock, 51000), 1001000000);
	assert_int_equal(clock_ns(&clock, 950), 999999000);
	clock_free(&clock);
}

/* Two pairs a moment apart say little about the next seconds. */
static void test_close_pairs(void **unused)
{
	struct clock clock = { .tick_ps = 20000 };

	(void)unused;
	clock_add(&clock, 1000, 1000000000);
	clock_add(&clock, 1010, 1000000400);
	assert_int_equal(clock_ns(&clock, 51010), 1001000400);
	assert_int_equal(clock_ns(&clock, 1005), 1000000200);
	clock_free(&clock);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_pair),
		cmocka_unit_test(test_between),
		cmocka_unit_test(test_rounding),
		cmocka_unit_test(test_uneven),
		cmocka_unit_test(test_one_pair),
		cmocka_unit_test(test_close_pairs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
