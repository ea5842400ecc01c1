/*
 * test_table.c: numbers by key, against an array; keys that differ little.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/base/table.h"

#define KEYS 5000

static void like_an_array(void **state)
{
	uint32_t values[KEYS];
	struct table table = { 0 };

	(void)state;
	srand(1);
	memset(values, 0xff, sizeof(values));
	assert_int_equal(table_get(&table, 0), TABLE_NONE);
	for (unsigned i = 0; i < 20000; i++) {
		uint64_t key = (uint64_t)rand() % KEYS;

		assert_int_equal(table_get(&table, key << 40), values[key]);
		table_set(&table, key << 40, i);
		values[key] = i;
	}
	for (uint64_t key = 0; key < KEYS; key++)
		assert_int_equal(table_get(&table, key << 40), values[key]);
	table_free(&table);
}

/* Things that are numbered as they come keep their numbers. */
static void numbers_are_kept(void **state)
{
	struct table table = { 0 };

	(void)state;
	for (uint32_t i = 0; i < KEYS; i++) {
		assert_int_equal(table_number(&table, i * 3, i), i);
		assert_int_equal(table_number(&table, i / 2 * 3, i + 1), i / 2);
	}
	assert_int_equal(table.used, KEYS);
	assert_int_equal(table_get(&table, 3), 1);
	table_free(&table);
}

/* Slots that a search for any of the keys goes over. */
static void alike_keys_lie_apart(void **state)
{
	static const unsigned shifts[] = { 0, 4, 12, 30, 48 };
	struct table table;

	(void)state;
	for (unsigned s = 0; s < 5; s++) {
		uint64_t run = 0, longest = 0;

		memset(&table, 0, sizeof(table));
		for (uint64_t key = 0; key < KEYS; key++)
			table_set(&table, key << shifts[s], (uint32_t)key);
		assert_true(table.used * 4 <= (table.mask + 1) * 3);
		for (uint64_t i = 0; i <= table.mask; i++) {
			run = table.slots[i].value == TABLE_NONE ? 0 : run + 1;
			longest = run > longest ? run : longest;
		}
		assert_in_range(longest, 1, 150);
		table_free(&table);
	}
}

static void broken_ones(void **state)
{
	struct table table = { 0 };
	struct table_slot *slot, *free_slot;

	(void)state;
	assert_true(table_is_valid(&table));
	for (uint64_t i = 0; i < 40; i++)
		table_set(&table, i * 7, (uint32_t)i);
	assert_true(table_is_valid(&table));
	table.used--;
	assert_false(table_is_valid(&table));
	table.used++;
	table.mask--;
	assert_false(table_is_valid(&table));
	table.mask++;
	for (slot = table.slots; slot->value == TABLE_NONE;)
		slot++;
	for (free_slot = table.slots; free_slot->value != TABLE_NONE;)
		free_slot++;
	/* one that a search for its key does not come to */
	*free_slot = *slot;
	slot->value = TABLE_NONE;
	assert_false(table_is_valid(&table));
	*slot = *free_slot;
	free_slot->value = TABLE_NONE;
	assert_true(table_is_valid(&table));
	table_free(&table);
	table.used = 1;
	assert_false(table_is_valid(&table));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(like_an_array),
		cmocka_unit_test(numbers_are_kept),
		cmocka_unit_test(alike_keys_lie_apart),
		cmocka_unit_test(broken_ones),
	};

	return cmocka_run_group_tests_name("table", tests, NULL, NULL);
}
