/*
 * test_bundles.c: sums stay, whatever the limit; the limit holds; and as long
 * as it is not reached, each block is one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "cli/export/bundles.h"

#define BLOCKS 20000
#define CONTEXTS 50

struct sums {
	uint64_t bytes, blocks, temporary, live;
};

static struct bundle block(uint64_t i)
{
	struct bundle one = {
		.node = (uint32_t)(i * 7919 % CONTEXTS),
		.thread = (uint32_t)(i % 3 == 0),
		.alloc_ns = i * 1000,
		.ended = i % 10 == 0 ? BUNDLE_LIVES :
			i * 1000 + i * 104729 % 5000000,
		.bytes = i % 64,
		.blocks = 1,
		.temporary = i % 5 == 1,
	};

	return one;
}

static void add(struct sums *sums, const struct bundle *bundle)
{
	sums->bytes += bundle->bytes;
	sums->blocks += bundle->blocks;
	sums->temporary += bundle->temporary;
	sums->live += bundle->ended == BUNDLE_LIVES ? bundle->bytes : 0;
}

static void check_sums(const struct bundles *bundles)
{
	struct sums must = { 0 }, is = { 0 };

	for (uint64_t i = 0; i < BLOCKS; i++) {
		struct bundle one = block(i);

		add(&must, &one);
	}
	for (size_t i = 0; i < bundles->count; i++)
		add(&is, &bundles->list[i]);
	assert_memory_equal(&is, &must, sizeof(must));
}

static void fill(struct bundles *bundles, size_t limit)
{
	bundles_init(bundles, limit);
	for (uint64_t i = 0; i < BLOCKS; i++) {
		struct bundle one = block(i);

		bundles_add(bundles, &one);
		assert_true(bundles->count <= limit || bundles->shift == 63);
	}
}

static void each_is_one(void **state)
{
	struct bundles bundles;

	(void)state;
	fill(&bundles, BLOCKS);
	assert_int_equal(bundles.count, BLOCKS);
	assert_int_equal(bundles.shift, 0);
	for (uint64_t i = 0; i < BLOCKS; i++) {
		struct bundle one = block(i);

		assert_memory_equal(&bundles.list[i], &one, sizeof(one));
	}
	check_sums(&bundles);
	bundles_free(&bundles);
}

static void a_limit(void **state)
{
	static const size_t limits[] = { BLOCKS - 1, 3000, 500, 200 };

	(void)state;
	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		struct bundles bundles;

		fill(&bundles, limits[i]);
		assert_true(bundles.count <= limits[i]);
		check_sums(&bundles);
		bundles_free(&bundles);
	}
}

/* Of one context each, all at the same time: two of each are what is left. */
static void no_limit_holds(void **state)
{
	struct bundles bundles;

	(void)state;
	fill(&bundles, 1);
	/* threads differ in some contexts */
	assert_in_range(bundles.count, CONTEXTS * 2, CONTEXTS * 4);
	check_sums(&bundles);
	bundles_free(&bundles);
}

/* Two that go together: from the first allocation to the last end. */
static void times(void **state)
{
	const struct bundle one = { .node = 3, .alloc_ns = 40, .ended = 47,
				    .bytes = 5, .blocks = 1 };
	const struct bundle two = { .node = 3, .alloc_ns = 38, .ended = 44,
				    .bytes = 6, .blocks = 1, .temporary = 1 };
	const struct bundle lives = { .node = 3, .alloc_ns = 41,
				      .ended = BUNDLE_LIVES, .blocks = 1 };
	struct bundles bundles;

	(void)state;
	bundles_init(&bundles, 1);
	bundles_add(&bundles, &one);
	bundles_add(&bundles, &two);
	assert_int_equal(bundles.count, 1);
	assert_int_equal(bundles.list[0].alloc_ns, 38);
	assert_int_equal(bundles.list[0].ended, 47);
	assert_int_equal(bundles.list[0].bytes, 11);
	assert_int_equal(bundles.list[0].blocks, 2);
	assert_int_equal(bundles.list[0].temporary, 1);
	bundles_add(&bundles, &lives);
	assert_int_equal(bundles.count, 2);
	assert_int_equal(bundles.list[1].ended, BUNDLE_LIVES);
	bundles_free(&bundles);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_is_one),
		cmocka_unit_test(a_limit),
		cmocka_unit_test(no_limit_holds),
		cmocka_unit_test(times),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
