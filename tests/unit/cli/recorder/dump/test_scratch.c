/* test_scratch.c: memory for one task: what is counted, the limit, the end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "cli/recorder/dump/scratch.h"

#define MIB (UINT64_C(1) << 20)

static void within_its_limit(void **state)
{
	struct scratch scratch = { .limit = 4 * MIB };
	char *first;

	(void)state;
	first = scratch_alloc(&scratch, 100);
	assert_non_null(first);
	assert_int_equal(first[99], 0);
	assert_true((char *)scratch_alloc(&scratch, 16) == first + 112);
	assert_non_null(scratch_alloc(&scratch, 2 * MIB));
	assert_null(scratch_alloc(&scratch, MIB));
	assert_null(scratch_alloc(&scratch, SIZE_MAX));
	assert_int_equal(scratch.bytes, 4 * MIB);
	scratch_end(&scratch);
	assert_int_equal(scratch.bytes, 0);
}

static void broken_counts_are_seen(void **state)
{
	struct scratch scratch = { .limit = 8 * MIB };

	(void)state;
	assert_non_null(scratch_alloc(&scratch, 100));
	assert_non_null(scratch_alloc(&scratch, 2 * MIB));
	assert_true(scratch_is_valid(&scratch));
	scratch.bytes--;
	assert_false(scratch_is_valid(&scratch));
	scratch.bytes++;
	scratch.limit = 4096;
	assert_false(scratch_is_valid(&scratch));
	scratch_end(&scratch);
	assert_true(scratch_is_valid(&scratch));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(within_its_limit),
		cmocka_unit_test(broken_counts_are_seen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
