/* test_findings.c: which live memory grew steadily, by its steps. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "cli/report/findings.h"

#define STEPS 16

static void fill(struct series_step *steps, const uint64_t *live)
{
	for (size_t i = 0; i < STEPS; i++)
		steps[i] = (struct series_step){
			.live_bytes = live[i], .allocations = live[i] > 0,
		};
}

static uint64_t growth(const uint64_t *live)
{
	struct series_step steps[STEPS];

	fill(steps, live);
	return findings_growth(steps, STEPS);
}

static void steadily(void **state)
{
	(void)state;
	assert_int_equal(growth((uint64_t[STEPS]){ 1, 2, 3, 4, 5, 6, 7, 8, 9,
			 10, 11, 12, 13, 14, 15, 16 }), 15);
	/* it began later */
	assert_int_equal(growth((uint64_t[STEPS]){ 0, 0, 0, 10, 20, 30, 40, 50,
			 60, 70, 80, 90, 100, 110, 120, 130 }), 120);
	/* it rests, and falls once */
	assert_int_equal(growth((uint64_t[STEPS]){ 1, 2, 3, 3, 3, 3, 4, 5, 6, 7,
			 6, 8, 9, 10, 11, 12 }), 11);
}

static void otherwise(void **state)
{
	(void)state;
	assert_int_equal(growth((uint64_t[STEPS]){ 0 }), 0);
	/* built at the beginning, or at the end, */
	assert_int_equal(growth((uint64_t[STEPS]){ 1, 5, 9, 9, 9, 9, 9, 9, 9, 9,
			 9, 9, 9, 9, 9, 9 }), 0);
	assert_int_equal(growth((uint64_t[STEPS]){ 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
			 1, 1, 1, 5, 7, 9 }), 0);
	/* up and down, */
	assert_int_equal(growth((uint64_t[STEPS]){ 1, 9, 1, 9, 1, 9, 1, 9, 1, 9,
			 1, 9, 1, 9, 1, 9 }), 0);
	assert_int_equal(growth((uint64_t[STEPS]){ 1, 2, 3, 2, 4, 5, 6, 5, 7, 8,
			 9, 8, 10, 11, 12, 13 }), 0);
	/* too short to tell */
	assert_int_equal(growth((uint64_t[STEPS]){ [10] = 1, 2, 3, 4, 5, 6 }),
			 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(steadily),
		cmocka_unit_test(otherwise),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
