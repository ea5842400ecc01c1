/* test_try_alloc.c: pages keep what was put there, whether they stay, are moved
 * or become large ones, and what is new is zero. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cli/base/try_alloc.h"

#define LARGE ((size_t)2 << 20)

static void filled(uint32_t *at, size_t from, size_t to)
{
	for (size_t i = from / sizeof(*at); i < to / sizeof(*at); i++) {
		assert_int_equal(at[i], 0);
		at[i] = (uint32_t)i + 1;
	}
}

static void kept(const uint32_t *at, size_t size)
{
	for (size_t i = 0; i < size / sizeof(*at); i++)
		assert_int_equal(at[i], i + 1);
}

static void pages_grow(void **state)
{
	size_t size = 20000, more;
	uint32_t *at = try_alloc_pages(NULL, 0, size), *before;

	(void)state;
	filled(at, 0, size);
	for (; size < 16 * LARGE; size = more) {
		/* behind it: it may not stay where it is */
		void *other = try_alloc_pages(NULL, 0, size);

		more = size * 2 - size / 3 / 4 * 4;
		before = at;
		at = try_alloc_pages(before, size, more);
		assert_non_null(at);
		if (more >= LARGE)
			assert_int_equal((uintptr_t)at % LARGE, 0);
		kept(at, size);
		filled(at, size, more);
		try_alloc_pages_free(other, size);
	}
	at = try_alloc_pages(at, size, size / 2);
	kept(at, size / 2);
	at = try_alloc_pages(at, size / 2, size);
	kept(at, size / 2);
	try_alloc_pages_free(at, size);
}

static void begins_large(void **state)
{
	uint32_t *at = try_alloc_pages(NULL, 0, 3 * LARGE + 4);

	(void)state;
	assert_int_equal((uintptr_t)at % LARGE, 0);
	filled(at, 0, 3 * LARGE + 4);
	at = try_alloc_pages(at, 3 * LARGE + 4, 64);
	kept(at, 64);
	try_alloc_pages_free(at, 64);
}

/* What is there stays. */
static void is_refused(void **state)
{
	uint32_t *at = try_alloc_pages(NULL, 0, 64);

	(void)state;
	filled(at, 0, 64);
	assert_null(try_alloc_pages(at, 64, SIZE_MAX));
	assert_null(try_alloc_pages(at, 64, SIZE_MAX / 4));
	kept(at, 64);
	try_alloc_pages_free(at, 64);
	try_alloc_pages_free(NULL, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pages_grow),
		cmocka_unit_test(begins_large),
		cmocka_unit_test(is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
