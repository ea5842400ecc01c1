/* test_zeroed.c: the recorder's memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cli/recorder/base/zeroed.h"
#include "preload/base/base.h"

static void whole_lines_of_zeros(void **state)
{
	static const size_t sizes[] = { 1, 63, 64, 65, 4096, 100000, 1 << 20 };
	static const char zeros[1 << 20];
	unsigned i, j;

	(void)state;
	for (i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
		for (j = 0; j < 3; j++) {
			char *p = zeroed_alloc(sizes[i]);

			assert_non_null(p);
			assert_int_equal((uintptr_t)p % BASE_LINE, 0);
			assert_memory_equal(p, zeros, sizes[i]);
			memset(p, 0xff, sizes[i]);
		}
}

static void too_much_is_refused(void **state)
{
	(void)state;
	assert_null(zeroed_alloc(SIZE_MAX));
	assert_null(zeroed_alloc(SIZE_MAX - BASE_LINE + 1));
	assert_null(zeroed_alloc(SIZE_MAX - BASE_LINE));
	assert_null(zeroed_alloc(SIZE_MAX / 2));
}

/* Bytes; `there`: of addresses, too. */
static long resident(long *there)
{
	FILE *file = fopen("/proc/self/statm", "r");
	long size, pages;

	assert_int_equal(fscanf(file, "%ld %ld", &size, &pages), 2);
	fclose(file);
	*there = size * 4096;
	return pages * 4096;
}

/* Tables have addresses for the most that there may be. */
static void what_is_not_used_is_not_made(void **state)
{
	long there, before = resident(&there);
	char *p = zeroed_alloc(1 << 30);

	(void)state;
	assert_non_null(p);
	p[0] = p[(1 << 30) - 1] = 1;
	assert_true(resident(&there) - before < 1 << 20);
}

/* Nor of smaller ones, of which there are many. */
static void small_tables(void **state)
{
	char *table[20];
	long there, before = resident(&there);
	unsigned i;

	(void)state;
	for (i = 0; i < 20; i++) {
		table[i] = zeroed_alloc(100000);
		assert_non_null(table[i]);
	}
	assert_in_range(resident(&there) - before, 0, 100000);
	for (i = 0; i < 20; i++)
		table[i][0] = 1;
}

/* As many as there are addresses for, in whatever sizes. */
static void addresses_are_used_up(void **state)
{
	struct rlimit old, limit;
	size_t size = 1 << 20;
	unsigned blocks = 0;
	long there;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_AS, &old), 0);
	limit = old;
	resident(&there);
	limit.rlim_cur = there + (64 << 20);
	assert_int_equal(setrlimit(RLIMIT_AS, &limit), 0);
	for (; size >= 4096; size /= 2)
		while (zeroed_alloc(size))
			blocks++;
	assert_int_equal(setrlimit(RLIMIT_AS, &old), 0);
	assert_in_range(blocks, 8, 1 << 16);
	assert_non_null(zeroed_alloc(100));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole_lines_of_zeros),
		cmocka_unit_test(too_much_is_refused),
		cmocka_unit_test(what_is_not_used_is_not_made),
		cmocka_unit_test(small_tables),
		cmocka_unit_test(addresses_are_used_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
