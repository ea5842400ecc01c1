/*
 * test_pattern.c: expressions that match, that are wrong, that never end.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/base/text/pattern.h"

static bool matches(const char *expression, const char *text)
{
	char why[128];
	struct pattern *pattern = pattern_new(expression, why, sizeof(why));
	bool result;

	assert_non_null(pattern);
	result = pattern_matches(pattern, text);
	assert_int_equal(pattern_matches(pattern, text), result);
	pattern_free(pattern);
	return result;
}

static void anywhere_in_the_text(void **state)
{
	(void)state;
	assert_true(matches("oper.tor", "std::operator<<"));
	assert_false(matches("^oper.tor", "std::operator<<"));
	assert_true(matches("", ""));
	assert_true(matches("(?i)NEW", "operator new"));
	assert_false(matches("a\\b", "ab"));
}

static void what_is_wrong_is_said(void **state)
{
	char why[128] = "", small[8];

	(void)state;
	assert_null(pattern_new("a(b", why, sizeof(why)));
	assert_non_null(strstr(why, "at character 4"));
	assert_null(pattern_new("[z-a]", small, sizeof(small)));
	assert_int_equal(strlen(small), sizeof(small) - 1);
	pattern_free(NULL);
}

static void a_sign_is_one_character(void **state)
{
	char why[128];

	(void)state;
	assert_true(matches("^w.rk$", "w\xc3\xb6rk"));
	assert_false(matches("^w..rk$", "w\xc3\xb6rk"));
	assert_true(matches("^\xe5\x90\x8d.::", "\xe5\x90\x8d\xe5\x89\x8d::f"));
	assert_true(matches("[\xc3\xa4\xc3\xb6]rk", "w\xc3\xb6rk"));
	assert_null(pattern_new("\xc3\xb6(", why, sizeof(why)));
	assert_non_null(strstr(why, "at character 3"));
}

/* Bytes that are no UTF-8, in the text and in the expression. */
static void any_bytes_will_do(void **state)
{
	(void)state;
	assert_true(matches("rk$", "w\xf6rk"));
	assert_true(matches("^w", "w\xf6rk"));
	assert_false(matches("work", "w\xf6rk"));
	assert_false(matches("x", "\xff\xc3"));
	assert_true(matches("a", "\xed\xa0\x80" "a"));
	assert_true(matches("w\xf6rk", "w\xf6rk"));
	assert_true(matches("^w\xf6.k", "w\xf6rk"));
	assert_false(matches("w\xf6rk", "w\xc3\xb6rk"));
}

/* Without a limit the first takes 2^40 steps; PCRE2's own, which takes ten
 * times as long, would find a match of the second. */
static void too_many_steps_are_no_match(void **state)
{
	(void)state;
	assert_false(matches("(a+)+$", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
			     "!"));
	assert_true(matches("(?:a+)+b|a", "aaaaaaaaaa!"));
	assert_false(matches("(?:a+)+b|a", "aaaaaaaaaaaaaaaaaaaaaa!"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(anywhere_in_the_text),
		cmocka_unit_test(what_is_wrong_is_said),
		cmocka_unit_test(a_sign_is_one_character),
		cmocka_unit_test(any_bytes_will_do),
		cmocka_unit_test(too_many_steps_are_no_match),
	};

	return cmocka_run_group_tests_name("pattern", tests, NULL, NULL);
}
