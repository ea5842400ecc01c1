/*
 * test_hash.c: keys that somebody chose because they fall upon each other
 * under a hash that is known, and regular ones, in the tables that have a
 * trace's addresses and ids.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cli/base/hash.h"
#include "cli/base/table.h"
#include "cli/model/core/blocks.h"

#define KEYS 20000
#define GOLDEN UINT64_C(0x9e3779b97f4a7c15)

/* With the factor's product it is 1, modulo 2^64 (Newton's method). */
static uint64_t inverse(uint64_t factor)
{
	uint64_t x = factor;

	for (unsigned i = 0; i < 6; i++)
		x *= 2 - factor * x;
	return x;
}

/* What hash_fixed makes this of. */
static uint64_t key_of(uint64_t hash)
{
	hash ^= hash >> 31 ^ hash >> 62;
	hash *= inverse(UINT64_C(0x94d049bb133111eb));
	hash ^= hash >> 27 ^ hash >> 54;
	hash *= inverse(UINT64_C(0xbf58476d1ce4e5b9));
	return hash ^ hash >> 30 ^ hash >> 60;
}

static void keys_of_a_table(void **state)
{
	struct table table = { 0 };
	uint64_t steps = 0;

	(void)state;
	for (uint32_t i = 0; i < KEYS; i++) {
		uint64_t key = key_of((uint64_t)i << 40);

		assert_true(hash_fixed(key) == (uint64_t)i << 40);
		table_set(&table, key, i);
	}
	for (uint64_t i = 0; i <= table.mask; i++)
		if (table.slots[i].value != TABLE_NONE)
			steps += (i - hash_number(table.slots[i].key)) &
				 table.mask;
	/* half of its square, where all begin at one place */
	assert_in_range(steps, 0, KEYS * 4);
	for (uint32_t i = 0; i < KEYS; i++)
		assert_int_equal(table_get(&table, key_of((uint64_t)i << 40)),
				 i);
	table_free(&table);
}

/* Blocks that found no room in the bucket where they belong. */
static uint64_t passed(const struct blocks *blocks)
{
	uint64_t sum = 0;

	for (uint64_t i = 0; i < blocks->cleared; i++)
		sum += blocks->now.buckets[i].passed;
	return sum;
}

static void addresses_of_blocks(void **state)
{
	uint64_t back = inverse(GOLDEN), count = 0;
	struct blocks blocks;
	int is_new;

	(void)state;
	blocks_init(&blocks);
	for (uint64_t product = 1; count < KEYS; product++) {
		uint64_t granule = back * product;

		if (granule >> 60 != 0)
			continue;	/* it would be no address */
		blocks_add(&blocks, granule << 4, &is_new)->size = 1;
		assert_true(is_new);
		count++;
	}
	/* Half of its square, where all begin at one place. By chance it is
	 * more than KEYS in one of fifty runs, ten times that in one of some
	 * hundred: a row of equal steps, times any factor, is one. */
	assert_in_range(passed(&blocks), 0, KEYS * (KEYS / 20));
	blocks_free(&blocks);
}

/* As allocators give them out. */
static void regular_addresses(void **state)
{
	static const uint64_t strides[] = { 16, 32, 48, 80, 4096, 65536,
					    1 << 20, 336, 8208 };

	(void)state;
	for (unsigned s = 0; s < sizeof(strides) / sizeof(strides[0]); s++) {
		struct blocks blocks;
		int is_new;

		blocks_init(&blocks);
		for (uint64_t i = 0; i < KEYS; i++)
			blocks_add(&blocks, 0x7f0012340010 + i * strides[s],
				   &is_new)->size = 1;
		assert_in_range(passed(&blocks), 0, KEYS / 4);
		blocks_free(&blocks);
	}
}

static void a_seed(void **state)
{
	(void)state;
	assert_true(hash_seed.toggle != 0);
	assert_true(hash_seed.factor % 2 == 1 && hash_seed.factor != 1);
	/* whatever is drawn, what is regular is spread */
	for (unsigned i = 0; i < 20; i++) {
		hash_seed_from((uint64_t[2]){ hash_fixed(2 * i),
					      hash_fixed(2 * i + 1) });
		regular_addresses(state);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keys_of_a_table),
		cmocka_unit_test(addresses_of_blocks),
		cmocka_unit_test(regular_addresses),
		cmocka_unit_test(a_seed),
	};

	return cmocka_run_group_tests_name("hash", tests, NULL, NULL);
}
