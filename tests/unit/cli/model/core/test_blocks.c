/* test_blocks.c: the table of live blocks against a plain array. */
// FLAGS: -Wl,--wrap=try_alloc_pages
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "cli/model/core/blocks.h"

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
		    &blocks.now.buckets[blocks.now.mask])
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
	for (uint64_t i = 0; i <= blocks.now.mask; i++)
		assert_int_equal(blocks.now.buckets[i].passed, 0);
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

/* Many at home in the last bucket, of a table of 1 << bits: past its end they
 * lie in the first ones, where they are met when those move. */
static void crowd_moves(unsigned bits)
{
	struct blocks blocks;
	unsigned crowd = 0;
	uint32_t number = 0;
	uint64_t at = 16, end;
	int is_new;

	blocks_init(&blocks);
	for (; blocks.now.shift > 64 - bits || blocks.old.buckets; at += 16)
		blocks_add(&blocks, at, &is_new)->size = at;
	for (end = at; crowd < CROWD; end += 16) {
		if (blocks_hash(end) >> (64 - bits) != blocks.now.mask)
			continue;
		blocks_add(&blocks, end, &is_new)->size = end;
		crowd++;
	}
	for (at = end; blocks.old.buckets == NULL; at += 16)
		blocks_add(&blocks, at, &is_new)->size = at;
	for (; blocks.old.buckets != NULL; at += 16) {
		blocks_add(&blocks, at, &is_new)->size = at;
		/* one goes, of either table */
		blocks_remove(&blocks, blocks_next(&blocks, &number));
		if (number < 32 || number % (1u << bits >> 5) == 0)
			assert_true(blocks_is_valid(&blocks));
	}
	assert_true(blocks_is_valid(&blocks));
	blocks_free(&blocks);
}

static void a_crowd_moves(void **state)
{
	(void)state;
	crowd_moves(9);
	crowd_moves(16);
}

/* Growth is a matter of all that are added: each moves so many buckets, and
 * all are moved long before it is full again. */
static void bounds_of_growth(uint32_t blocks_max, bool refill)
{
	struct blocks blocks;
	uint64_t moved = 0, enlarged = 0, far = 0;
	int is_new;

	blocks_init(&blocks);
	for (uint32_t i = 1; i <= blocks_max; i++) {
		bool growing = blocks.old.buckets != NULL;
		uint64_t address = UINT64_C(0x7f0000000000) + i * UINT64_C(48);

		moved = growing ? blocks.moved : 0;
		blocks_add(&blocks, address, &is_new)->size = i;
		assert_true(is_new);
		if (!growing && blocks.old.buckets != NULL)
			enlarged++;
		if (blocks.old.buckets != NULL) {
			assert_in_range(blocks.moved - moved, 1, BLOCKS_STEP);
			far = blocks.old.mask + 1;
		} else if (growing) {
			assert_in_range(far - moved, 1, BLOCKS_STEP);
			/* I2, and I3 of blocks.c */
			assert_in_range(blocks.count, 0, blocks.limit * 11 / 20);
			assert_int_equal(blocks.cleared, blocks.now.mask + 1);
		}
		if (refill && i % 3 == 0)
			blocks_remove(&blocks, blocks_find(&blocks, address));
	}
	assert_true(enlarged >= 6);
	for (uint32_t i = 1; i <= blocks_max; i++) {
		const struct block *block = blocks_find(
			&blocks, UINT64_C(0x7f0000000000) + i * UINT64_C(48));

		assert_int_equal(block != NULL, !refill || i % 3 != 0);
		if (block != NULL)
			assert_int_equal(block->size, i);
	}
	assert_true(blocks_is_valid(&blocks));
	blocks_free(&blocks);
}

/* So many that buckets are moved without a look at their blocks, too. */
static void grows_in_steps(void **state)
{
	(void)state;
	bounds_of_growth(800000, false);
	bounds_of_growth(600000, true);
}

/* What is moving when all is forgotten. */
static void cleared_amid_growth(void **state)
{
	struct blocks blocks;
	uint64_t at = 16;
	int is_new;

	(void)state;
	blocks_init(&blocks);
	for (unsigned turn = 0; turn < 3; turn++) {
		while (blocks.old.buckets == NULL || blocks.moved < 100)
			blocks_add(&blocks, at += 16, &is_new);
		assert_true(blocks_is_valid(&blocks));
		blocks_clear(&blocks);
		assert_int_equal(blocks.count, 0);
		assert_null(blocks_find(&blocks, at));
		assert_true(blocks_is_valid(&blocks));
	}
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

/* So many blocks whose home is this bucket; the next address. */
static uint64_t crowd_at(struct blocks *blocks, uint64_t home, unsigned count,
			 uint64_t address)
{
	int is_new;

	while (count > 0) {
		address += 16;
		if (blocks_home(blocks, blocks_hash(address)) !=
		    &blocks->now.buckets[home])
			continue;
		blocks_add(blocks, address, &is_new);
		count--;
	}
	return address;
}

/* Each bucket was passed by blocks, of which most are gone: what is not there is
 * not sought for ever. */
static void all_buckets_were_passed(void **state)
{
	struct blocks blocks;
	struct block *block;
	uint64_t last, address;
	uint32_t number = 0;
	int is_new;

	(void)state;
	blocks_init(&blocks);
	last = crowd_at(&blocks, 0, 2553, 0);
	while ((block = blocks_next(&blocks, &number)) != NULL)
		if (block->address != last)
			blocks_remove(&blocks, block);
	crowd_at(&blocks, 319, 2550, last);
	for (unsigned i = 0; i <= blocks.now.mask; i++)
		assert_true(blocks.now.buckets[i].passed > 0);
	assert_null(blocks_find(&blocks, 8));
	assert_non_null(blocks_find(&blocks, last));
	/* it grows */
	for (address = 8; blocks.count < 4000; address += 16)
		blocks_add(&blocks, address, &is_new);
	assert_null(blocks_find(&blocks, 4));
	assert_non_null(blocks_find(&blocks, last));
	blocks_free(&blocks);
}

static unsigned refused; /* the how manieth try_alloc_pages is; 0: none */

void *__real_try_alloc_pages(void *old, size_t old_size, size_t size);
void *__wrap_try_alloc_pages(void *old, size_t old_size, size_t size);

void *__wrap_try_alloc_pages(void *old, size_t old_size, size_t size)
{
	return refused > 0 && --refused == 0 ?
		       NULL : __real_try_alloc_pages(old, old_size, size);
}

/* Either list is refused, and the way back. What is there stays. */
static void without_memory_for_more(void **state)
{
	struct blocks blocks;
	unsigned count = 0;
	int is_new;

	(void)state;
	for (unsigned which = 1; which <= 2; which++) {
		blocks_init(&blocks);
		for (count = 0; blocks.used < blocks.capacity; count++)
			blocks_add(&blocks, 16 * (count + 1), &is_new);
		refused = which;
		assert_null(blocks_try_add(&blocks, 16 * (count + 1), &is_new));
		assert_int_equal(refused, 0);
		for (unsigned i = 0; i < count; i++)
			assert_non_null(blocks_find(&blocks, 16 * (i + 1)));
		blocks_add(&blocks, 16 * (count + 1), &is_new);
		assert_true(is_new);
		assert_int_equal(blocks.count, count + 1);
		blocks_free(&blocks);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(against_array),
		cmocka_unit_test(one_home),
		cmocka_unit_test(a_crowd_moves),
		cmocka_unit_test(grows_in_steps),
		cmocka_unit_test(cleared_amid_growth),
		cmocka_unit_test(a_broken_table_is_seen),
		cmocka_unit_test(no_more_than_that),
		cmocka_unit_test(all_buckets_were_passed),
		cmocka_unit_test(without_memory_for_more),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
