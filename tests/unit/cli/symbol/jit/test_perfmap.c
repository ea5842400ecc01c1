/*
 * test_perfmap.c: names of code made at run time.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "cli/symbol/jit/perfmap.h"

static void add(struct perfmap *map, const char *text)
{
	perfmap_add(map, text, strlen(text), 0);
}

static void lines_are_read(void **state)
{
	struct perfmap map = { 0 };

	(void)state;
	add(&map, "1000 10 one\n2000 8 two words, and more\n0x3000 0xA hex\n");
	assert_string_equal(perfmap_find(&map, 0x1000, 1), "one");
	assert_string_equal(perfmap_find(&map, 0x100f, 1), "one");
	assert_null(perfmap_find(&map, 0x1010, 1));
	assert_null(perfmap_find(&map, 0xfff, 1));
	assert_string_equal(perfmap_find(&map, 0x2007, 1), "two words, and more");
	assert_string_equal(perfmap_find(&map, 0x3009, 1), "hex");
	assert_int_equal(map.bad, 0);
	perfmap_free(&map);
}

static void later_lines_win(void **state)
{
	struct perfmap map = { 0 };

	(void)state;
	add(&map, "1000 100 old\n1080 10 inner\n");
	assert_string_equal(perfmap_find(&map, 0x1085, 1), "inner");
	assert_string_equal(perfmap_find(&map, 0x1095, 1), "old");
	add(&map, "1000 90 new\n");
	assert_string_equal(perfmap_find(&map, 0x1085, 1), "new");
	assert_string_equal(perfmap_find(&map, 0x1095, 1), "old");
	add(&map, "1000 90 newest\n");
	assert_string_equal(perfmap_find(&map, 0x1000, 1), "newest");
	perfmap_free(&map);
}

static void nonsense_is_counted(void **state)
{
	static const char *const lines[] = {
		"x", "1000", "1000 ", "1000 10", "1000 10 ", " 10 10 a",
		"g 10 a", "1000 1g a", "fffffffffffffffff 1 a", "0x 1 a",
		"ffffffffffffffff 2 wraps", "1000  a",
	};
	struct perfmap map = { 0 };
	size_t n = sizeof(lines) / sizeof(lines[0]);

	(void)state;
	assert_null(perfmap_find(&map, 0x1000, 1));
	for (size_t i = 0; i < n; i++)
		add(&map, lines[i]);
	assert_int_equal(map.bad, n);
	assert_int_equal(map.count, 0);
	add(&map, "\n\n");
	assert_int_equal(map.bad, n);
	add(&map, "1000 10 no line end");
	assert_string_equal(perfmap_find(&map, 0x1001, 1), "no line end");
	perfmap_free(&map);
}

static void nodes_mean_what_was_there_then(void **state)
{
	static const char *const pieces[] = {
		"1000 100 first\n3000 10 early\n", "1000 80 second\n",
		"2000 10 late\n2000 10 later\n1000 80 third\n",
		"2000 10 last\n", "2000 10 very last\n",
	};
	static const uint32_t ids[] = { 100, 200, 300, 400, 400 };
	struct perfmap map = { 0 };

	(void)state;
	for (int i = 0; i < 5; i++)
		perfmap_add(&map, pieces[i], strlen(pieces[i]), ids[i]);
	assert_string_equal(perfmap_find(&map, 0x1010, 50), "first");
	assert_string_equal(perfmap_find(&map, 0x1010, 199), "first");
	assert_string_equal(perfmap_find(&map, 0x1010, 200), "second");
	assert_string_equal(perfmap_find(&map, 0x1090, 200), "first");
	assert_string_equal(perfmap_find(&map, 0x1010, 300), "third");
	assert_string_equal(perfmap_find(&map, 0x1010, 999), "third");
	assert_string_equal(perfmap_find(&map, 0x2000, 50), "later");
	assert_string_equal(perfmap_find(&map, 0x2000, 399), "later");
	assert_string_equal(perfmap_find(&map, 0x2000, 400), "very last");
	assert_string_equal(perfmap_find(&map, 0x3000, 7), "early");
	perfmap_add(&map, "4000 10 was\n", 12, 500);
	perfmap_add(&map, "4000 10 became\n", 15, 500);	/* no node since */
	assert_string_equal(perfmap_find(&map, 0x4000, 499), "was");
	/* ids that do not grow, as only a damaged trace has them */
	perfmap_add(&map, "1000 10 odd\n", 12, 5);
	assert_string_equal(perfmap_find(&map, 0x1000, 399), "third");
	assert_string_equal(perfmap_find(&map, 0x1000, 500), "odd");
	perfmap_free(&map);
}

/* Against a search through all lines. */
static void overlaps(void **state)
{
	enum { LINES = 2000, SPAN = 4096 };
	static char wanted[SPAN][16];
	struct perfmap map = { 0 };
	uint32_t seed = 1;

	(void)state;
	for (int i = 0; i < LINES; i++) {
		char line[64];
		unsigned start, size;

		seed = seed * 1103515245u + 12345u;
		start = seed >> 16 & (SPAN - 1);
		size = seed >> 8 & 63;
		snprintf(line, sizeof(line), "%x %x f%d\n", start, size, i);
		add(&map, line);
		for (unsigned a = start; a < start + size && a < SPAN; a++)
			snprintf(wanted[a], sizeof(wanted[a]), "f%d", i);
	}
	for (unsigned a = 0; a < SPAN; a++) {
		const char *name = perfmap_find(&map, a, 1);

		assert_string_equal(name ? name : "", wanted[a]);
	}
	perfmap_free(&map);
}

static void broken_orders_are_seen(void **state)
{
	struct perfmap map = { 0 };

	(void)state;
	add(&map, "1000 100 a\n2000 10 b\n1080 10 c\n");
	assert_non_null(perfmap_find(&map, 0x1085, 1));
	assert_true(perfmap_is_valid(&map));
	map.list[1].reach--;
	assert_false(perfmap_is_valid(&map));
	map.list[1].reach++;
	map.list[2].start = 0x1000;
	assert_false(perfmap_is_valid(&map));
	map.list[2].start = 0x2000;
	map.list[0].piece = 1; /* which has not come */
	assert_false(perfmap_is_valid(&map));
	map.list[0].piece = 0;
	assert_true(perfmap_is_valid(&map));
	perfmap_free(&map);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_are_read),
		cmocka_unit_test(later_lines_win),
		cmocka_unit_test(nonsense_is_counted),
		cmocka_unit_test(nodes_mean_what_was_there_then),
		cmocka_unit_test(overlaps),
		cmocka_unit_test(broken_orders_are_seen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
