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

#include "cli/symbol/perfmap.h"

static void add(struct perfmap *map, const char *text)
{
	perfmap_add(map, text, strlen(text));
}

static void lines_are_read(void **state)
{
	struct perfmap map = { 0 };

	(void)state;
	add(&map, "1000 10 one\n2000 8 two words, and more\n0x3000 0xA hex\n");
	assert_string_equal(perfmap_find(&map, 0x1000), "one");
	assert_string_equal(perfmap_find(&map, 0x100f), "one");
	assert_null(perfmap_find(&map, 0x1010));
	assert_null(perfmap_find(&map, 0xfff));
	assert_string_equal(perfmap_find(&map, 0x2007), "two words, and more");
	assert_string_equal(perfmap_find(&map, 0x3009), "hex");
	assert_int_equal(map.bad, 0);
	perfmap_free(&map);
}

static void later_lines_win(void **state)
{
	struct perfmap map = { 0 };

	(void)state;
	add(&map, "1000 100 old\n1080 10 inner\n");
	assert_string_equal(perfmap_find(&map, 0x1085), "inner");
	assert_string_equal(perfmap_find(&map, 0x1095), "old");
	add(&map, "1000 90 new\n");
	assert_string_equal(perfmap_find(&map, 0x1085), "new");
	assert_string_equal(perfmap_find(&map, 0x1095), "old");
	add(&map, "1000 90 newest\n");
	assert_string_equal(perfmap_find(&map, 0x1000), "newest");
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
	assert_null(perfmap_find(&map, 0x1000));
	for (size_t i = 0; i < n; i++)
		add(&map, lines[i]);
	assert_int_equal(map.bad, n);
	assert_int_equal(map.count, 0);
	add(&map, "\n\n");
	assert_int_equal(map.bad, n);
	add(&map, "1000 10 no line end");
	assert_string_equal(perfmap_find(&map, 0x1001), "no line end");
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
		const char *name = perfmap_find(&map, a);

		assert_string_equal(name ? name : "", wanted[a]);
	}
	perfmap_free(&map);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_are_read),
		cmocka_unit_test(later_lines_win),
		cmocka_unit_test(nonsense_is_counted),
		cmocka_unit_test(overlaps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
