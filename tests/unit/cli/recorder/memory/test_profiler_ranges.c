/* test_profiler_ranges.c: what of the target's addresses is ours. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "cli/recorder/memory/profiler_ranges.h"
#include "cli/recorder/memory/program_ranges.h"

static struct gl_shared shared;
static struct profiler_ranges own;

static int each(void **state)
{
	(void)state;
	memset(&shared, 0, sizeof(shared));
	return 0;
}

static void none_are_told(void **state)
{
	(void)state;
	profiler_ranges_find(&own, &shared);
	assert_int_equal(own.count, 0);
	assert_false(profiler_ranges_have(&own, 0, 1));
}

/* As the kernel joins them. */
static void neighbours_are_one(void **state)
{
	(void)state;
	gl_own_put(&shared.own[0], 0x9000, 0x1000);
	gl_own_put(&shared.own[1], 0x5000, 0x2000);
	gl_own_put(&shared.own[GL_OWN - 1], 0x7000, 0x2000);
	gl_own_put(&shared.own[7], 0x1000, 0x1000);
	profiler_ranges_find(&own, &shared);
	assert_int_equal(own.count, 2);
	assert_int_equal(own.range[0].start, 0x1000);
	assert_int_equal(own.range[1].start, 0x5000);
	assert_int_equal(own.range[1].end, 0xa000);
	assert_true(profiler_ranges_have(&own, 0x5000, 0xa000));
	assert_true(profiler_ranges_have(&own, 0x6000, 0x8000));
	assert_false(profiler_ranges_have(&own, 0x4fff, 0x6000));
	assert_false(profiler_ranges_have(&own, 0x9000, 0xa001));
}

static void they_may_be_anything(void **state)
{
	(void)state;
	memset(shared.own, 0xff, sizeof(shared.own));
	profiler_ranges_find(&own, &shared);
	assert_int_equal(own.count, 0);
	gl_own_put(&shared.own[0], 0x1000, UINT64_MAX - 0x1000);
	gl_own_put(&shared.own[3], 0x3000, 0x1000);
	profiler_ranges_find(&own, &shared);
	assert_int_equal(own.count, 1);
	assert_true(profiler_ranges_have(&own, 0x3000, UINT64_MAX));
}

/* What is left of mappings, of which the kernel may have merged neighbours. */
static void the_rest_is_the_programs(void **state)
{
	const struct gl_range image = { 0x8000, 0xa000 };
	struct gl_range to[5];
	unsigned n;

	(void)state;
	gl_own_put(&shared.own[0], 0x2000, 0x1000);
	gl_own_put(&shared.own[1], 0x5000, 0x1000);
	profiler_ranges_find(&own, &shared);
	profiler_ranges_put(&own, image);
	n = program_ranges_add(to, 0, 4, &own,
			       (struct gl_range){ 0x1000, 0x6000 }, 0);
	assert_int_equal(n, 2);
	assert_int_equal(to[0].start, 0x1000);
	assert_int_equal(to[0].end, 0x2000);
	assert_int_equal(to[1].start, 0x3000);
	assert_int_equal(to[1].end, 0x5000);
	/* ours alone, then one around the library */
	n = program_ranges_add(to, n, 5, &own,
			       (struct gl_range){ 0x5000, 0x6000 }, 0);
	assert_int_equal(n, 2);
	n = program_ranges_add(to, n, 5, &own,
			       (struct gl_range){ 0x6000, 0x7000 }, 0);
	n = program_ranges_add(to, n, 5, &own,
			       (struct gl_range){ 0x7000, 0xb000 }, 0);
	assert_int_equal(n, 5);
	/* each as it is mapped: a guard page may be one of two neighbours */
	assert_int_equal(to[2].end, 0x7000);
	assert_int_equal(to[3].start, 0x7000);
	assert_int_equal(to[3].end, 0x8000);
	assert_int_equal(to[4].start, 0xa000);
	/* there is no more room; the rest is asked for next */
	n = program_ranges_add(to, n, 5, &own,
			       (struct gl_range){ 0xc000, 0xd000 }, 0);
	assert_int_equal(n, 5);
	assert_int_equal(to[4].end, 0xb000);
	n = program_ranges_add(to, 0, 4, &own,
			       (struct gl_range){ 0x1000, 0x5000 }, 0x4000);
	assert_int_equal(n, 1);
	assert_int_equal(to[0].start, 0x4000);
}

static void broken_orders_are_seen(void **state)
{
	(void)state;
	gl_own_put(&shared.own[0], 0x9000, 0x1000);
	gl_own_put(&shared.own[1], 0x5000, 0x2000);
	profiler_ranges_find(&own, &shared);
	assert_true(profiler_ranges_is_valid(&own));
	own.range[0].end = 0x9000; /* neighbours */
	assert_false(profiler_ranges_is_valid(&own));
	own.range[0].end = own.range[0].start;
	assert_false(profiler_ranges_is_valid(&own));
	own.range[0].end = 0x7000;
	assert_true(profiler_ranges_is_valid(&own));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(none_are_told, each),
		cmocka_unit_test_setup(neighbours_are_one, each),
		cmocka_unit_test_setup(the_rest_is_the_programs, each),
		cmocka_unit_test_setup(they_may_be_anything, each),
		cmocka_unit_test_setup(broken_orders_are_seen, each),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
