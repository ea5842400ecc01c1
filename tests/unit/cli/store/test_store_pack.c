/*
 * test_store_pack.c: columns of all kinds come back, and take what they should;
 * words that are none are refused, or make other numbers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "cli/base/hash.h"
#include "cli/store/store_column.h"
#include "cli/store/store_pack.h"

#define ROWS STORE_CHUNK_ROWS

static uint64_t numbers[ROWS];

/* Each third one from the end on. */
static void pick_backwards(const struct store_column_view *view,
			   const uint64_t *codes, size_t count,
			   const uint64_t *expected)
{
	uint64_t picked[STORE_BLOCK];
	uint16_t rows[STORE_BLOCK];
	size_t n = 0;

	for (size_t row = count; row > 0; row -= row < 3 ? row : 3)
		rows[n++] = (uint16_t)(row - 1);
	store_column_pick(view, codes, rows, n, picked);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(picked[i], expected[rows[i]]);
}

/* Packs the first `count`, and compares; returns how many words they took. */
static size_t round_trip(size_t count)
{
	struct store_packer *packer = store_packer_new();
	struct store_column_view view = { 0 };
	uint64_t block[STORE_BLOCK];
	const uint64_t *words;
	size_t size = store_pack(packer, numbers, count, &words);

	assert_true(store_column_begin(&view, words, size, 0, count));
	for (size_t b = 0; b * STORE_BLOCK < count; b++) {
		size_t n = count - b * STORE_BLOCK;

		n = n < STORE_BLOCK ? n : STORE_BLOCK;
		assert_true(store_column_codes(&view, b, block));
		pick_backwards(&view, block, n, numbers + b * STORE_BLOCK);
		if (view.distinct > 0)
			store_column_decode(&view, block, block, n);
		assert_memory_equal(block, numbers + b * STORE_BLOCK,
				    n * sizeof(*block));
	}
	store_column_free(&view);
	store_packer_free(packer);
	return size;
}

/* Bits a number, descriptors left out. */
static double bits(size_t words, size_t count)
{
	size_t blocks = (count + STORE_BLOCK - 1) / STORE_BLOCK;

	return (double)(words - 1 - 3 * blocks) * 64 / (double)count;
}

static uint64_t below(size_t i, uint64_t most)
{
	return hash_fixed(i * 7 + 1) % most;
}

static void small_numbers(void **state)
{
	(void)state;
	for (size_t i = 0; i < ROWS; i++)
		numbers[i] = 1000000 + below(i, 32000);
	assert_true(bits(round_trip(ROWS), ROWS) == 15);
}

static void few_large_ones_do_not_matter(void **state)
{
	(void)state;
	for (size_t i = 0; i < ROWS; i++)
		numbers[i] = i % 128 == 3 ? below(i, UINT64_C(1) << 50) + 4711 :
					    i % 16 * 5 + 3;
	/* seven bits; of one in 128 another 80 */
	assert_true(bits(round_trip(ROWS), ROWS) < 8);
}

static void nearly_always_the_same(void **state)
{
	(void)state;
	for (size_t i = 0; i < ROWS; i++)
		numbers[i] = i % 1000 == 9 ? below(i, 200) : 0;
	assert_true(bits(round_trip(ROWS), ROWS) < 0.2);
}

static void common_low_bits(void **state)
{
	(void)state;
	for (size_t i = 0; i < ROWS; i++)
		numbers[i] = 0x7f0000000008 + 16 * below(i, 1 << 20);
	assert_true(bits(round_trip(ROWS), ROWS) == 20);
}

static void rising_numbers(void **state)
{
	(void)state;
	numbers[0] = UINT64_C(1) << 60;
	for (size_t i = 1; i < ROWS; i++)
		/* one goes back */
		numbers[i] = numbers[i - 1] + (i == 5000 ? (uint64_t)-90 :
						 below(i, 16));
	assert_true(bits(round_trip(ROWS), ROWS) < 4.2);
}

static void few_different_ones(void **state)
{
	(void)state;
	for (size_t i = 0; i < ROWS; i++)
		numbers[i] = hash_fixed(below(i, 200));
	/* 200 of 64 bits, too */
	assert_true(bits(round_trip(ROWS), ROWS) < 8.3);
}

static void any_numbers(void **state)
{
	static const size_t counts[] = { 1, 2, 1023, 1024, 1025, 40000, ROWS };

	(void)state;
	for (size_t i = 0; i < ROWS; i++)
		numbers[i] = hash_fixed(i) >> below(i, 64);
	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++)
		round_trip(counts[i]);
	assert_true(bits(round_trip(ROWS), ROWS) <= 64);
}

static void of_both_ends(void **state)
{
	(void)state;
	for (size_t i = 0; i < ROWS; i++)
		numbers[i] = i % 2 ? UINT64_MAX - below(i, 3) : below(i, 3);
	assert_true(bits(round_trip(ROWS), ROWS) <= 3);
}

/* ---- damage ---- */

/* All blocks; whatever they are. */
static void read_all(const uint64_t *words, size_t size, size_t count)
{
	struct store_column_view view = { 0 };
	uint64_t block[STORE_BLOCK];
	/* where one byte too much is seen */
	uint64_t *copy = malloc(size * sizeof(*copy) + 1);

	memcpy(copy, words, size * sizeof(*copy));
	if (store_column_begin(&view, copy, size, 0, count))
		for (size_t b = 0; b * STORE_BLOCK < count; b++)
			if (store_column_codes(&view, b, block) &&
			    view.distinct > 0)
				store_column_decode(&view, block, block,
						    STORE_BLOCK);
	store_column_free(&view);
	free(copy);
}

static void damaged_words_stay_within(void **state)
{
	static const unsigned kinds[] = { 16, 300, 100000 };
	struct store_packer *packer = store_packer_new();

	(void)state;
	for (unsigned k = 0; k < 3; k++) {
		const uint64_t *words;
		uint64_t *mine;
		size_t size;

		for (size_t i = 0; i < 3000; i++)
			numbers[i] = hash_fixed(below(i, kinds[k]));
		size = store_pack(packer, numbers, 3000, &words);
		for (size_t i = 0; i < size; i++)
			read_all(words, i, 3000);
		mine = malloc(size * sizeof(*mine));
		for (size_t i = 0; i < 20000; i++) {
			memcpy(mine, words, size * sizeof(*mine));
			/* where descriptors are, mostly */
			mine[below(i, i % 2 ? size : 16)] ^=
				UINT64_C(1) << below(i + 1, 64);
			read_all(mine, size, 3000);
		}
		free(mine);
	}
	store_packer_free(packer);
}

static void what_is_no_column_is_refused(void **state)
{
	struct store_column_view view = { 0 };
	uint64_t words[8] = { STORE_ENCODINGS }, block[STORE_BLOCK];

	(void)state;
	assert_false(store_column_begin(&view, words, 8, 0, 10));
	words[0] = STORE_PLAIN;
	assert_false(store_column_begin(&view, words, 3, 0, 10));
	assert_true(store_column_begin(&view, words, 4, 0, 10));
	assert_true(store_column_codes(&view, 0, block));
	/* a word too few for this width */
	words[3] = UINT64_C(1) << 32;
	assert_false(store_column_codes(&view, 0, block));
	words[0] = STORE_DICTIONARY;
	assert_false(store_column_begin(&view, words, 8, 0, 10));
	words[1] = STORE_DICTIONARY_MAX + 1;
	assert_false(store_column_begin(&view, words, 8, 0, 10));
	/* without words all are the value */
	assert_true(store_column_begin(&view, NULL, 0, 4711, 10));
	assert_true(store_column_codes(&view, 0, block));
	for (size_t i = 0; i < 10; i++)
		assert_int_equal(block[i], 4711);
	store_column_free(&view);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(small_numbers),
		cmocka_unit_test(few_large_ones_do_not_matter),
		cmocka_unit_test(nearly_always_the_same),
		cmocka_unit_test(common_low_bits),
		cmocka_unit_test(rising_numbers),
		cmocka_unit_test(few_different_ones),
		cmocka_unit_test(any_numbers),
		cmocka_unit_test(of_both_ends),
		cmocka_unit_test(damaged_words_stay_within),
		cmocka_unit_test(what_is_no_column_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
