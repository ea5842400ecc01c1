/* test_fit.c: texts cut to columns, with a mark, and lists in lines. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "cli/base/text/fit.h"

static void is(void (*fit)(struct buffer *, const char *, size_t),
	       const char *text, size_t width, const char *wanted)
{
	struct buffer out = { 0 };

	fit(&out, text, width);
	assert_string_equal(out.data, wanted);
	assert_true(fit_columns(out.data) <= width || width < 3);
	buffer_free(&out);
}

static void starts(void **state)
{
	(void)state;
	is(fit_start, "abcdef", 6, "abcdef");
	is(fit_start, "abcdefg", 6, "abc...");
	is(fit_start, "abcdefg", 3, "...");
	is(fit_start, "\303\244\303\266\303\274\303\237", 4,
	   "\303\244\303\266\303\274\303\237");
	is(fit_start, "\303\244\303\266\303\274\303\237x", 4, "\303\244...");
}

static void paths(void **state)
{
	(void)state;
	is(fit_path, "/a/b/c.c", 8, "/a/b/c.c");
	is(fit_path, "/usr/include/c.c", 15, ".../include/c.c");
	is(fit_path, "/usr/include/c.c", 14, ".../c.c");
	is(fit_path, "/usr/a_long_name.c", 10, "..._name.c");
	is(fit_path, "/usr/include/", 8, "...lude/");
	is(fit_path, "/usr/include/c.c", 2, "...");
	is(fit_path, "/b\303\244r/\303\244\303\266.c", 8, ".../\303\244\303\266.c");
}

static void middles(void **state)
{
	(void)state;
	is(fit_middle, "libabc.so+0x10", 14, "libabc.so+0x10");
	is(fit_middle, "libabcdef.so+0x10", 14, "libab...o+0x10");
	is(fit_middle, "libabcdef.so+0x10", 13, "libab...+0x10");
	is(fit_middle, "abcdefg", 3, "...");
	is(fit_middle, "\303\244\303\266\303\274\303\237\303\244\303\266", 5,
	   "\303\244...\303\266");
}

/* 2 columns each: U+4E2D; none: U+0301, which joins the letter before. */
#define WIDE "\344\270\255"
#define ACUTE "\314\201"

static void widths(void **state)
{
	(void)state;
	assert_int_equal(fit_columns("a" WIDE "e" ACUTE "\377"), 5);
	/* an escape, and a mark that changes the direction: replaced later */
	assert_int_equal(fit_columns("\033\342\200\256"), 2);
	is(fit_start, WIDE WIDE WIDE, 6, WIDE WIDE WIDE);
	is(fit_start, WIDE WIDE WIDE WIDE, 7, WIDE WIDE "...");
	is(fit_start, WIDE WIDE WIDE WIDE, 6, WIDE "...");
	is(fit_start, "abe" ACUTE "de" ACUTE "fg", 6, "abe" ACUTE "...");
	is(fit_middle, WIDE WIDE WIDE WIDE, 7, WIDE "..." WIDE);
	is(fit_middle, WIDE WIDE WIDE WIDE, 6, "..." WIDE);
	is(fit_middle, "abcdefe" ACUTE "g", 5, "a...g");
	is(fit_path, "/a" WIDE "/" WIDE WIDE, 8, ".../" WIDE WIDE);
}

static void lists(void **state)
{
	struct buffer out = { 0 };
	struct fit_lines lines = {
		.out = &out, .between = ", ", .ending = ",", .indent = 2,
		.width = 10, .column = 5,
	};

	(void)state;
	fit_piece(&lines, "abcd");
	fit_piece(&lines, "ef");
	fit_piece(&lines, "ghi");
	fit_piece(&lines, "a piece that is too long");
	fit_piece(&lines, "j");
	assert_string_equal(out.data, "abcd,\n  ef, ghi,\n"
			    "  a piece that is too long,\n  j");
	buffer_free(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(starts),
		cmocka_unit_test(paths),
		cmocka_unit_test(middles),
		cmocka_unit_test(widths),
		cmocka_unit_test(lists),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
