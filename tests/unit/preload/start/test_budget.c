/*
 * test_budget.c: what we take under limits of the process's memory.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "preload/ring/area.h"
#include "preload/start/budget.h"

#define MIB (UINT64_C(1) << 20)

static struct budget under(const char *memory, uint64_t limit)
{
	struct options options;
	struct budget budget = { 0, 0 };

	options_default(&options);
	if (memory)
		assert_int_equal(options_set(&options, OPTION_MEMORY, memory),
				 0);
	assert_int_equal(budget_limited(&options, limit, &budget), 0);
	return budget;
}

/* Private memory that may grow, once the tables have their addresses. */
static uint64_t growth(const char *memory, uint64_t limit)
{
	struct budget budget = under(memory, limit);

	assert_true(budget.area >= AREA_MIN);
	return budget.area - AREA_MIN;
}

static void no_limit_gives_the_defaults(void **state)
{
	(void)state;
	assert_int_equal(under(NULL, UINT64_MAX).memory, 256 * MIB);
	assert_int_equal(growth(NULL, UINT64_MAX), 128 * MIB);
	assert_int_equal(under("64M", UINT64_MAX).memory, 64 * MIB);
	assert_int_equal(growth("32M", UINT64_MAX), 16 * MIB);
	assert_int_equal(growth("8M", UINT64_MAX), 4 * MIB);
}

static void budget_is_a_part_of_the_limit(void **state)
{
	(void)state;
	assert_int_equal(under(NULL, 4096 * MIB).memory, 256 * MIB);
	assert_int_equal(under(NULL, 512 * MIB).memory, 64 * MIB);
	assert_int_equal(growth(NULL, 512 * MIB), 16 * MIB);
	assert_int_equal(growth(NULL, 128 * MIB), 4 * MIB);
	assert_int_equal(growth(NULL, 64 * MIB), 2 * MIB);
}

static void budget_on_request(void **state)
{
	(void)state;
	assert_int_equal(under("256M", 512 * MIB).memory, 256 * MIB);
	assert_int_equal(under("8M", 16 * MIB).memory, 8 * MIB);
}

static void too_small_limit_fails(void **state)
{
	struct options options;
	struct budget budget;

	(void)state;
	options_default(&options);
	assert_true(budget_limited(&options, 32 * MIB, &budget) < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_limit_gives_the_defaults),
		cmocka_unit_test(budget_is_a_part_of_the_limit),
		cmocka_unit_test(budget_on_request),
		cmocka_unit_test(too_small_limit_fails),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
