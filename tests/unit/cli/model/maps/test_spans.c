/*
 * test_spans.c: a set of ranges against a table with an entry for each page.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/model/maps/spans.h"

#define PAGES 300

/* Owner of each page, 0: none. */
static uint32_t table[PAGES];

static void take(void *owner, const struct span *piece)
{
	uint64_t *bytes = owner;

	for (uint64_t i = piece->start; i < piece->end; i++) {
		assert_int_equal(table[i], piece->owner);
		table[i] = 0;
	}
	*bytes += piece->end - piece->start;
}

static void compare(const struct spans *spans)
{
	uint64_t bytes = 0;

	for (uint64_t i = 0; i < PAGES; i++) {
		const struct span *span = spans_at(spans, i);
		int inside = span != NULL && span->start <= i;

		assert_true(span == NULL || span->start < span->end);
		assert_int_equal(inside ? span->owner : 0, table[i]);
		bytes += table[i] != 0;
	}
	assert_int_equal(spans->bytes, bytes);
}

static void like_a_table(void **state)
{
	struct spans spans = { 0 };

	(void)state;
	srand(7);
	memset(table, 0, sizeof(table));
	for (uint32_t i = 1; i < 4000; i++) {
		uint64_t start = (uint64_t)rand() % (PAGES - 1);
		uint64_t end = start + 1 + (uint64_t)rand() % 40, gone = 0;
		uint64_t before = spans.bytes;

		if (end > PAGES)
			end = PAGES;
		spans_cut(&spans, start, end, take, &gone);
		assert_int_equal(spans.bytes, before - gone);
		if (i % 3 != 0) {
			spans_put(&spans, start, end, i, i * 2);
			for (uint64_t k = start; k < end; k++)
				table[k] = i;
		}
		if (i % 5 == 0)
			spans_split(&spans, start + 1);
		if (i % 16 == 0)
			compare(&spans);
	}
	/* entries are used again */
	assert_true(spans.count < PAGES + 8);
	spans_free(&spans);
}

static void pieces_keep_their_owner(void **state)
{
	struct spans spans = { 0 };

	(void)state;
	spans_put(&spans, 10, 50, 3, 7);
	spans_cut(&spans, 20, 30, NULL, NULL);
	assert_int_equal(spans_at(&spans, 10)->end, 20);
	assert_int_equal(spans_at(&spans, 20)->start, 30);
	assert_int_equal(spans_at(&spans, 35)->owner, 3);
	assert_int_equal(spans_at(&spans, 35)->flags, 7);
	assert_null(spans_at(&spans, 50));
	assert_int_equal(spans.bytes, 30);
	/* nothing there, nothing asked for */
	spans_cut(&spans, 20, 30, NULL, NULL);
	spans_cut(&spans, 15, 15, NULL, NULL);
	spans_split(&spans, 50);
	assert_int_equal(spans.bytes, 30);
	spans_free(&spans);
}

static void broken_sets_are_seen(void **state)
{
	struct spans spans = { 0 };
	struct span *span;

	(void)state;
	assert_true(spans_is_valid(&spans));
	for (uint64_t at = 10; at < 1000; at += 20)
		spans_put(&spans, at, at + 10, 1, 0);
	assert_true(spans_is_valid(&spans));
	span = spans_at(&spans, 110);
	span->end += 15;			/* I1 */
	assert_false(spans_is_valid(&spans));
	span->end -= 15;
	spans.bytes++;
	assert_false(spans_is_valid(&spans));
	spans.bytes--;
	spans.list[spans.root].priority = 0;
	assert_false(spans_is_valid(&spans));
	spans_free(&spans);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(like_a_table),
		cmocka_unit_test(pieces_keep_their_owner),
		cmocka_unit_test(broken_sets_are_seen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
