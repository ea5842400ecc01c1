/* test_bump.c: the arena that serves before the real allocator can. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "preload/base/bump.h"

static void blocks_are_aligned_zero_and_apart(void **state)
{
	unsigned char *last = NULL;
	unsigned i;

	(void)state;
	for (i = 0; i < 200; i++) {
		size_t alignment = (size_t)1 << i % 9, size = i * 7 % 300;
		unsigned char *p = bump_alloc(size, alignment);
		size_t n;

		assert_non_null(p);
		assert_int_equal((uintptr_t)p % (alignment < 16 ? 16 :
							 alignment), 0);
		assert_true(p > last);
		assert_int_equal(bump_size(p), size);
		assert_true(bump_owns(p));
		for (n = 0; n < size; n++)
			assert_int_equal(p[n], 0);
		memset(p, 0xff, size);
		last = p + size - (size > 0);
	}
	assert_int_equal(bump_count(), 200);
}

static void large_blocks_are_mapped(void **state)
{
	size_t size = 3 * BUMP_SIZE;
	char *p = bump_alloc(size, 4096);

	(void)state;
	assert_non_null(p);
	assert_int_equal((uintptr_t)p % 4096, 0);
	p[0] = p[size - 1] = 1;
	assert_int_equal(bump_size(p), size);
	assert_true(bump_owns(p));
	assert_true(bump_owns(p + size - 1));
}

static void owns_only_its_arena(void **state)
{
	int local;

	(void)state;
	assert_false(bump_owns(NULL));
	assert_false(bump_owns(&local));
	assert_false(bump_owns(bump_arena + BUMP_SIZE));
	assert_true(bump_owns(bump_arena));
}

static void impossible_sizes_fail(void **state)
{
	(void)state;
	assert_null(bump_alloc(8, 24));
	assert_null(bump_alloc(SIZE_MAX - 100, 16));
	assert_null(bump_alloc(SIZE_MAX, 4096));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(blocks_are_aligned_zero_and_apart),
		cmocka_unit_test(large_blocks_are_mapped),
		cmocka_unit_test(owns_only_its_arena),
		cmocka_unit_test(impossible_sizes_fail),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
