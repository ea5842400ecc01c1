/* test_blocks.c: the table of live blocks against a plain array. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "cli/model/blocks.h"

#define ADDRESSES 4000
#define CROWD 300

static uint64_t address_of(unsigned i)
{
	/* regular ones, neighbours, and some with the same upper part */
	return i % 3 == 0 ? 0x10 + (uint64_t)i * 16 :
		i % 3 == 1 ? UINT64_C(0x7f0000000000) + (uint64_t)i * 4096 :
		UINT64_C(0x555500000000) + i;
}

static void against_array(void **state)
{
	static uint64_t sizes[ADDRESSES];	/* 0: not live */
	struct blocks blocks;
	uint64_t live = 0;

	(void)state;
	srand(3);
	blocks_init(&blocks);
	for (unsigned step = 0; step < 400000; step++) {
		unsigned i = (unsigned)rand() % ADDRESSES;
		struct block *block = blocks_find(&blocks, address_of(i));
		int is_new;

		assert_int_equal(block != NULL, sizes[i] != 0);
		if (block != NULL) {
			assert_int_equal(block->size, sizes[i]);
			if (rand() % 2) {
				blocks_remove(&blocks, block);
				sizes[i] = 0;
				live--;
			}
			continue;
		}
		if (step / 50000 % 2 && rand() % 4)
			continue;
		block = blocks_add(&blocks, address_of(i), &is_new);
		assert_true(is_new);
		block->size = sizes[i] = step + 1;
		live++;
		assert_int_equal(blocks.count, live);
	}
	for (unsigned i = 0; i < ADDRESSES; i++)
		assert_int_equal(blocks_find(&blocks, address_of(i)) != NULL,
				 sizes[i] != 0);
	blocks_free(&blocks);
}

/* All at home in the last bucket: they fill it and, from the first one on,
 * many more. */
static void one_home(void **state)
{
	static uint64_t addresses[CROWD];
	struct blocks blocks;
	unsigned count = 0, live = 0;
	int is_new;

	(void)state;
	srand(5);
	blocks_init(&blocks);
	for (uint64_t at = 16; count < CROWD; at += 16)
		if (blocks_home(&blocks, blocks_hash(at)) ==
		    &blocks.buckets[blocks.mask])
			addresses[count++] = at;
	for (unsigned step = 0; step < 20000; step++) {
		uint64_t address = addresses[(unsigned)rand() % CROWD];
		struct block *block = blocks_add(&blocks, address, &is_new);

		if (is_new)
			block->size = address;
		assert_int_equal(block->size, address);
		assert_ptr_equal(blocks_find(&blocks, address), block);
		live += is_new ? 1 : 0;
		if (is_new && rand() % 4)
			continue;
		blocks_remove(&blocks, block);
		assert_null(blocks_find(&blocks, address));
		assert_int_equal(blocks.count, --live);
	}
	for (unsigned i = 0; i < CROWD; i++) {
		struct block *block = blocks_find(&blocks, addresses[i]);

		if (block != NULL)
			blocks_remove(&blocks, block);
	}
	/* I1: nobody went past anything */
	for (uint64_t i = 0; i <= blocks.mask; i++)
		assert_int_equal(blocks.buckets[i].passed, 0);
	assert_int_equal(blocks.count, 0);
	blocks_free(&blocks);
}

static void a_broken_table_is_seen(void **state)
{
	struct blocks blocks;
	struct blocks_bucket *home;
	int is_new;

	(void)state;
	blocks_init(&blocks);
	for (unsigned i = 0; i < ADDRESSES; i++)
		blocks_add(&blocks, address_of(i), &is_new);
	blocks_remove(&blocks, blocks_find(&blocks, address_of(5)));
	assert_true(blocks_is_valid(&blocks));
	blocks.count++;
	assert_false(blocks_is_valid(&blocks));
	blocks.count--;
	home = blocks_home(&blocks, blocks_hash(address_of(7)));
	home->passed++;				/* I1 */
	assert_false(blocks_is_valid(&blocks));
	home->passed--;
	blocks_find(&blocks, address_of(7))->address ^= 1u << 28;
	assert_false(blocks_is_valid(&blocks));
	blocks_free(&blocks);
}

/* No more than was said: what is there stays usable, and what goes makes room. */
static void no_more_than_that(void **state)
{
	enum { MOST = 1000 };
	struct blocks blocks;
	unsigned count = 0;
	int is_new;

	(void)state;
	assert_true(blocks_try_init(&blocks, MOST));
	while (blocks_try_add(&blocks, 16 * (count + 1), &is_new) != NULL)
		count++;
	assert_in_range(count, MOST - 1, MOST);
	assert_true(is_new);
	assert_int_equal(blocks.count, count);
	for (unsigned i = 1; i <= count; i++)
		assert_non_null(blocks_find(&blocks, 16 * i));
	assert_null(blocks_find(&blocks, 16 * (count + 1)));
	blocks_remove(&blocks, blocks_find(&blocks, 16));
	assert_non_null(blocks_try_add(&blocks, 8, &is_new));
	assert_null(blocks_try_add(&blocks, 16, &is_new));
	blocks_clear(&blocks);
	assert_null(blocks_find(&blocks, 32));
	assert_int_equal(blocks.count, 0);
	for (unsigned i = 1; i <= count; i++)
		assert_non_null(blocks_try_add(&blocks, 32 * i, &is_new));
	assert_null(blocks_try_add(&blocks, 16, &is_new));
	blocks_free(&blocks);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(against_array),
		cmocka_unit_test(one_home),
		cmocka_unit_test(a_broken_table_is_seen),
		cmocka_unit_test(no_more_than_that),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
