/*
 * test_suppressions.c: patterns, files, and rules on stacks.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#include "cli/stack/suppressions.h"
#include "tests/unit/model_feed.h"

/* ---- patterns ---- */

static void test_patterns(void **state)
{
	static const struct {
		const char *pattern, *text;
		bool matches;
	} cases[] = {
		{ "foo", "foo", true }, { "foo", "a_foo_b", true },
		{ "foo", "fo", false }, { "foo", "f_oo", false },
		{ "^foo", "foobar", true }, { "^foo", "a_foo", false },
		{ "foo$", "a_foo", true }, { "foo$", "foo_b", false },
		{ "^foo$", "foo", true }, { "^foo$", "foofoo", false },
		{ "foo$", "foo_foo", true }, { "f*o", "f_o", true },
		{ "f*o", "o_f", false }, { "f*o", "a_fo", true },
		{ "^f*o$", "fabco", true }, { "^f*o$", "fabcod", false },
		{ "^*foo", "a_foo", true }, { "foo*$", "foo_b", true },
		{ "a*b*c", "1a2b3c4", true }, { "a*b*c", "1a2c3b4", false },
		{ "a**b", "a_b", true }, { "*", "x", true },
		{ "ab*ab$", "ab", false }, { "ab*ab$", "abab", true },
		{ "^ab*ab$", "ab_ab", true }, { "^aa$", "a", false },
		{ "*$", "x", true }, { "^*", "x", true }, { "^", "x", true },
		{ "$", "x", true }, { "^$", "x", false }, { "*", "", false },
		{ "a.b", "axb", false }, { "a$b", "a$b", true },
		{ "libfoo.so", "/usr/lib/libfoo.so.1.2", true },
		{ "/lib*foo", "/usr/lib/libfoo.so", true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (suppressions_match(cases[i].pattern, cases[i].text) !=
		    cases[i].matches)
			fail_msg("%s on %s", cases[i].pattern, cases[i].text);
}

/* The plain way, which tries everything. */
static bool brute(const char *pattern, const char *text)
{
	if (*pattern == 0)
		return true;
	if (pattern[0] == '$' && pattern[1] == 0)
		return *text == 0;
	if (*pattern == '*')
		return brute(pattern + 1, text) ||
			(*text != 0 && brute(pattern, text + 1));
	return *text == *pattern && brute(pattern + 1, text + 1);
}

static bool brute_match(const char *pattern, const char *text)
{
	if (*text == 0)
		return false;
	if (*pattern == '^')
		return brute(pattern + 1, text);
	for (; ; text++) {
		if (brute(pattern, text))
			return true;
		if (*text == 0)
			return false;
	}
}

static void test_random_patterns(void **state)
{
	size_t matching = 0;

	(void)state;
	srand(3);
	for (unsigned i = 0; i < 200000; i++) {
		char pattern[10] = "", text[10] = "";
		size_t n = (size_t)rand() % 7, m = (size_t)rand() % 9;
		bool wanted;

		for (size_t k = 0; k < n; k++)
			pattern[k] = "ab*"[rand() % 3];
		if (rand() % 3 == 0 && n > 0)
			pattern[0] = '^';
		if (rand() % 3 == 0)
			pattern[n] = '$';
		for (size_t k = 0; k < m; k++)
			text[k] = "ab"[rand() % 2];
		wanted = brute_match(pattern, text);
		matching += wanted;
		if (suppressions_match(pattern, text) != wanted)
			fail_msg("%s on %s: not %d", pattern, text, wanted);
	}
	assert_true(matching > 20000 && matching < 180000);
}

/* ---- files ---- */

static struct suppressions rules;

static int parse(const char *text)
{
	return suppressions_parse(&rules, text, strlen(text),
				  SUPPRESSION_FILE, "f", NULL);
}

static void test_files(void **state)
{
	(void)state;
	assert_int_equal(parse("\xef\xbb\xbf# comment\n\n  leak:one\t\r\n\tleak: two  \n"
			       "#leak:no\nleak:a <- b <- ... <- c d\n"
			       "leak:^ <- x\nleak:last"), 0);
	assert_int_equal(rules.count, 5);
	assert_string_equal(rules.list[0].text, "one");
	assert_int_equal(rules.list[0].line, 3);
	assert_string_equal(rules.list[1].text, "two");
	assert_int_equal(rules.list[2].pattern_count, 3);
	assert_int_equal(rules.list[2].gaps, 1 | 1 << 2);
	assert_string_equal(rules.patterns.list[rules.list[2].patterns[2]], "c d");
	assert_int_equal(rules.list[3].gaps, 0);
	assert_int_equal(rules.list[3].pattern_count, 1);
	assert_string_equal(rules.list[4].text, "last");
	suppressions_free(&rules);
}

static void test_wrong_files(void **state)
{
	static const char *const wrong[] = {
		"leak", "leak:", "leak: \n", "race:x", "leak:a\nfoo\n",
		"Leak:a", "leak:a <- ", "leak:a <- ...", "leak: <- b",
		"leak:a <-  <- b",
		"leak:1 <- 2 <- 3 <- 4 <- 5 <- 6 <- 7 <- 8 <- 9 <- 10 <- 11 "
		"<- 12 <- 13 <- 14 <- 15 <- 16 <- 17",
	};

	(void)state;
	assert_int_equal(parse("leak:kept"), 0);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		assert_int_equal(parse(wrong[i]), -EINVAL);
		assert_int_equal(rules.count, 1);
	}
	assert_int_equal(suppressions_parse(&rules, "leak:a\0b\n", 9,
					    SUPPRESSION_FILE, "f", NULL), -EINVAL);
	assert_int_equal(suppressions_read(&rules, "/nonexistent", NULL), -EINVAL);
	assert_int_equal(suppressions_read(&rules, "/", NULL), -EINVAL);
	assert_int_equal(suppressions_read(&rules, "/dev/zero", NULL), -EINVAL);
	suppressions_free(&rules);
}

static void test_many(void **state)
{
	struct buffer text = { 0 };

	(void)state;
	for (unsigned i = 0; i < SUPPRESSIONS_MAX; i++)
		buffer_printf(&text, "leak:f%u\n", i);
	assert_int_equal(parse(text.data), 0);
	assert_int_equal(parse("leak:more\n"), -EINVAL);
	assert_int_equal(rules.count, SUPPRESSIONS_MAX);
	buffer_free(&text);
	suppressions_free(&rules);
}

/* ---- stacks ---- */

static struct model *model;
static struct frames frames;

/* Behind z; its letter is '{'. */
#define LONG_NAME "1b000 1000 work(std::vector<int, std::allocator<int> >)\n"

/* Functions a … z at 0x1000, 0x2000, … */
static int make(void **state)
{
	struct debugfile_places places = { 0 };

	(void)state;
	model = model_new(NULL, NULL);
	for (unsigned i = 0; i < 26; i++) {
		char line[64];

		snprintf(line, sizeof(line), "%x 1000 %c\n", 0x1000 * (i + 1),
			 'a' + i);
		feed_names(model, line);
	}
	feed_names(model, LONG_NAME);
	frames_init(&frames, model, &places, true);
	return 0;
}

static int drop(void **state)
{
	(void)state;
	frames_free(&frames);
	model_free(model);
	return 0;
}

static uint32_t next_id = 100;

/* Innermost first. */
static uint32_t stack_of(const char *functions)
{
	uint32_t id = GT_STOP_BOTTOM;

	for (size_t i = strlen(functions); i-- > 0;) {
		feed_node(model, next_id, id,
			  0x1000u * (uint32_t)(functions[i] - 'a' + 1) + 8);
		id = next_id++;
	}
	return model_node(model, id);
}

/* The number of the rule, -1: none. */
static int rule_for(const char *text, const char *stack)
{
	uint32_t node = stack_of(stack), found;

	assert_int_equal(parse(text), 0);
	suppressions_bind(&rules, &frames, "p");
	found = suppressions_find(&rules, node);
	suppressions_free(&rules);
	return found == SUPPRESSION_NONE ? -1 : (int)found;
}

static void test_forms_of_names(void **state)
{
	static const char *const forms[] = {
		"leak:^work$", "leak:^work(std::vector<int>)$",
		"leak:^work(std::vector<int, std::allocator<int> >)$",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		enum suppression_source source = SUPPRESSION_BUILT_IN;
		uint32_t node = stack_of("a{b");

		assert_int_equal(rule_for(forms[i], "a{b"), 0);
		/* Ours are about names in C. */
		assert_int_equal(suppressions_parse(&rules, forms[i],
				 strlen(forms[i]), source, "ours",
				 NULL), 0);
		suppressions_bind(&rules, &frames, "p");
		assert_int_equal(suppressions_find(&rules, node), i == 2 ? 0 :
				 SUPPRESSION_NONE);
		suppressions_free(&rules);
	}
	assert_int_equal(rule_for("leak:^wor$", "a{b"), -1);
}

static void test_stacks(void **state)
{
	(void)state;
	assert_int_equal(rule_for("leak:c", "abcd"), 0);
	assert_int_equal(rule_for("leak:x", "abcd"), -1);
	assert_int_equal(rule_for("leak:x", ""), -1);
	/* the innermost frame decides, then the order in the file */
	assert_int_equal(rule_for("leak:d\nleak:b\nleak:^b$", "abcd"), 1);
	assert_int_equal(rule_for("leak:b <- c", "abcd"), 0);
	assert_int_equal(rule_for("leak:b <- d", "abcd"), -1);
	assert_int_equal(rule_for("leak:c <- b", "abcd"), -1);
	assert_int_equal(rule_for("leak:b <- ... <- d", "abcd"), 0);
	assert_int_equal(rule_for("leak:b <- ... <- c", "abcd"), 0);
	assert_int_equal(rule_for("leak:a <- ... <- c <- d", "abcd"), 0);
	assert_int_equal(rule_for("leak:a <- ... <- b <- d", "abcd"), -1);
	/* one frame is one pattern's */
	assert_int_equal(rule_for("leak:b <- b", "abcd"), -1);
	assert_int_equal(rule_for("leak:b <- b", "abbd"), 0);
	assert_int_equal(rule_for("leak:b <- ... <- b", "abcd"), -1);
	/* recursion: the first try is not the right one */
	assert_int_equal(rule_for("leak:a <- a <- b", "aaab"), 0);
	assert_int_equal(rule_for("leak:a <- b <- c", "ababc"), 0);
	assert_int_equal(rule_for("leak:a <- b <- ... <- c <- d", "abcabxcd"),
			 0);
	/* the allocation itself */
	assert_int_equal(rule_for("leak:^ <- a", "abcd"), 0);
	assert_int_equal(rule_for("leak:^ <- b", "abcd"), -1);
	assert_int_equal(rule_for("leak:^ <- a <- b", "abcd"), 0);
	assert_int_equal(rule_for("leak:^ <- a <- b", "xabd"), -1);
	assert_int_equal(rule_for("leak:^ <- ... <- d", "abcd"), 0);
}

/* Does the rule match from frame `at` on? Sets where it ends, as early as it
 * can. `words` alternate: a letter, or '.' for dots. */
static bool tail_matches(const char *words, const char *stack, size_t at,
			 size_t *end)
{
	size_t best = SIZE_MAX, one;

	if (*words == 0) {
		*end = at;
		return true;
	}
	if (*words == '.') {
		for (; stack[at] != 0; at++)
			if (tail_matches(words + 1, stack, at, &one) &&
			    one < best)
				best = one;
	} else if (stack[at] == *words &&
		   tail_matches(words + 1, stack, at + 1, &one)) {
		best = one;
	}
	*end = best;
	return best != SIZE_MAX;
}

static void test_random_stacks(void **state)
{
	size_t matching = 0;

	(void)state;
	srand(11);
	for (unsigned round = 0; round < 3000; round++) {
		char stack[12] = "", words[3][12] = { "", "", "" };
		size_t depth = 1 + (size_t)rand() % 8, best = SIZE_MAX;
		struct buffer text = { 0 };
		int wanted = -1;

		for (size_t i = 0; i < depth; i++)
			stack[i] = "abc"[rand() % 3];
		for (unsigned r = 0; r < 3; r++) {
			size_t n = 1 + (size_t)rand() % 3, w = 0, end;
			bool inner = rand() % 4 == 0;

			buffer_string(&text, inner ? "leak:^ <- " : "leak:");
			if (!inner)
				words[r][w++] = '.';
			for (size_t i = 0; i < n; i++) {
				bool dots = i > 0 && rand() % 2;
				char name = "abcd"[rand() % 4];

				buffer_printf(&text, "%s%s^%c$",
					      i ? " <- " : "", dots ?
					      "... <- " : "", name);
				if (dots)
					words[r][w++] = '.';
				words[r][w++] = name;
			}
			buffer_string(&text, "\n");
			if (tail_matches(words[r], stack, 0, &end) &&
			    end < best) {
				best = end;
				wanted = (int)r;
			}
		}
		matching += wanted >= 0;
		if (rule_for(text.data, stack) != wanted)
			fail_msg("%s on %s: not %d", text.data, stack, wanted);
		buffer_free(&text);
	}
	assert_true(matching > 500 && matching < 2900);
}

static void test_programs(void **state)
{
	uint32_t node = stack_of("ab");

	(void)state;
	assert_int_equal(suppressions_parse(&rules, "leak:a", 6,
					    SUPPRESSION_PROGRAM, "p", NULL), 0);
	suppressions_bind(&rules, &frames, "p");
	assert_int_equal(suppressions_find(&rules, node), 0);
	suppressions_bind(&rules, &frames, "q");
	assert_int_equal(suppressions_find(&rules, node), SUPPRESSION_NONE);
	suppressions_bind(&rules, &frames, NULL);
	assert_int_equal(suppressions_find(&rules, node), SUPPRESSION_NONE);
	suppressions_free(&rules);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_patterns),
		cmocka_unit_test(test_random_patterns),
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_wrong_files),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_forms_of_names),
		cmocka_unit_test(test_stacks),
		cmocka_unit_test(test_random_stacks),
		cmocka_unit_test(test_programs),
	};

	return cmocka_run_group_tests(tests, make, drop);
}
