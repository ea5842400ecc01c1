/*
 * test_compress.c: columns of every kind come back as they were, at every
 * effort, and what pays for a column follows what is in it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include <zstd.h>

#include "preload/ring/area.h"
#include "cli/recorder/emit/compress.h"

#define BYTES 20000
#define TURNS 40	/* more than lie between two trials */

/* HALVES: noise, of which a half is repeated. */
enum content { NOISE, SKEWED, HALVES, REPEATED, CONTENTS };

static struct compress compress;
static uint8_t raw[BYTES], back[BYTES];
static uint8_t stored[COMPRESS_COLUMN_MAX(BYTES)];
static uint64_t draw = 1;

static void fill(enum content what, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		draw = draw * UINT64_C(6364136223846793005) + 1;
		raw[i] = draw >> 56;
		if (what == SKEWED)
			raw[i] = (raw[i] & 3) ? 7 : raw[i] >> 4;
		if (what == REPEATED && i >= 100)
			raw[i] = raw[i - 100];
		if (what == HALVES && i % 2000 >= 1300)
			raw[i] = raw[i - 1300];
	}
}

static uint64_t number(const uint8_t **p)
{
	uint64_t v = 0;
	unsigned shift = 0;

	do
		v |= (uint64_t)(**p & 127) << shift;
	while (shift += 7, *(*p)++ & 128);
	return v;
}

/* Compresses raw, checks the way back; returns the size stored. */
static size_t there_and_back(struct compress_past *past, size_t n)
{
	const uint8_t *p = stored;
	uint8_t *end = compress_column(&compress, past, stored, raw, n);
	size_t size;

	assert_true(end <= stored + COMPRESS_COLUMN_MAX(n));
	assert_int_equal(number(&p), n);
	size = number(&p);
	assert_ptr_equal(p + size, end);
	assert_true(size <= n);
	if (size == n) {
		assert_memory_equal(p, raw, n);
		return size;
	}
	memset(back, 0xee, n);
	assert_int_equal(ZSTD_decompress(back, n, p, size), n);
	assert_memory_equal(back, raw, n);
	return size;
}

static void all_columns_come_back(void **state)
{
	static const size_t sizes[] = { 0, 1, 63, 64, 65, 127, 128, 129, 500,
					2047, 2048, 16383, 16384, BYTES };
	unsigned effort, what, i, turn;

	(void)state;
	for (effort = 0; effort < COMPRESS_EFFORTS; effort++)
		for (what = 0; what < CONTENTS; what++) {
			struct compress_past past = { 0, 0 };

			compress.effort = effort;
			for (turn = 0; turn < 3; turn++)
				for (i = 0; i < sizeof(sizes) / sizeof(*sizes);
				     i++) {
					fill(what, sizes[i]);
					there_and_back(&past, sizes[i]);
				}
		}
	compress.effort = COMPRESS_SMALL;
}

static void what_pays_is_found_and_found_again(void **state)
{
	/* at most so much of the column is left, once it is known */
	static const size_t most[CONTENTS] = {
		BYTES, BYTES / 2, BYTES * 3 / 4, BYTES / 20
	};
	static const uint8_t method[CONTENTS] = {
		COMPRESS_STORED, COMPRESS_CODED, COMPRESS_SEARCHED,
		COMPRESS_REPEATED
	};
	struct compress_past past = { 0, 0 };
	unsigned from, to, turn;
	size_t size = 0;

	(void)state;
	for (from = 0; from < CONTENTS; from++)
		for (to = 0; to < CONTENTS; to++) {
			for (turn = 0; turn < 2 * TURNS; turn++) {
				fill(turn < TURNS ? from : to, BYTES);
				size = there_and_back(&past, BYTES);
			}
			assert_int_equal(past.method, method[to]);
			assert_true(size <= most[to]);
		}
}

/* Without a trial, as how much was left of a column says it. */
static void many_repetitions_are_seen_at_once(void **state)
{
	struct compress_past past = { COMPRESS_SEARCHED, 10 };

	(void)state;
	fill(REPEATED, BYTES);
	there_and_back(&past, BYTES);
	assert_int_equal(past.method, COMPRESS_REPEATED);
	fill(HALVES, BYTES);
	there_and_back(&past, BYTES);
	assert_int_equal(past.method, COMPRESS_SEARCHED);
	assert_int_equal(past.left, 8);
}

static void short_columns_are_no_trial(void **state)
{
	struct compress_past past = { COMPRESS_CODED, 0 };

	(void)state;
	fill(REPEATED, 200);
	there_and_back(&past, 200);
	assert_int_equal(past.method, COMPRESS_CODED);
	assert_int_equal(past.left, 0);
}

static void without_memory_columns_are_stored(void **state)
{
	struct compress_past past = { 0, 0 };
	void *context = compress.compressor;

	(void)state;
	compress.compressor = NULL;
	fill(REPEATED, BYTES);
	assert_int_equal(there_and_back(&past, BYTES), BYTES);
	compress.compressor = context;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_columns_come_back),
		cmocka_unit_test(what_pays_is_found_and_found_again),
		cmocka_unit_test(many_repetitions_are_seen_at_once),
		cmocka_unit_test(short_columns_are_no_trial),
		cmocka_unit_test(without_memory_columns_are_stored),
	};

	if (area_map(UINT64_C(64) << 20))
		return 77;
	compress_init(&compress);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
