/* test_parallel.c: each thing once, whatever the number of threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "cli/base/parallel.h"

#define THINGS 10000

static atomic_uint seen[THINGS];

static void see(void *owner, size_t i)
{
	assert_ptr_equal(owner, seen);
	atomic_fetch_add(&seen[i], 1);
}

static void each_once(void **state)
{
	static const size_t counts[] = { 0, 1, 2, 33, THINGS };

	(void)state;
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		for (size_t j = 0; j < THINGS; j++)
			seen[j] = 0;
		parallel_each(counts[i], see, seen);
		for (size_t j = 0; j < THINGS; j++)
			assert_int_equal(seen[j], j < counts[i]);
	}
}

/* What has as many things as threads gives each its own. */
static void no_more_threads_than_things(void **state)
{
	(void)state;
	assert_int_equal(parallel_threads(0), 0);
	assert_int_equal(parallel_threads(1), 1);
	assert_true(parallel_threads(1000) >= 1);
	assert_true(parallel_threads(1000) <= PARALLEL_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_once),
		cmocka_unit_test(no_more_threads_than_things),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
