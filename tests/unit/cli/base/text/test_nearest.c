/* test_nearest.c: words that somebody mistyped. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "cli/base/text/nearest.h"

static size_t distance(const char *a, const char *b)
{
	size_t there = nearest_distance(a, strlen(a), b, strlen(b));

	assert_int_equal(there, nearest_distance(b, strlen(b), a, strlen(a)));
	return there;
}

static void distances(void **state)
{
	char longest[NEAREST_MAX + 2];

	(void)state;
	assert_int_equal(distance("", ""), 0);
	assert_int_equal(distance("", "abc"), 3);
	assert_int_equal(distance("report", "report"), 0);
	assert_int_equal(distance("reprot", "report"), 1);
	assert_int_equal(distance("rport", "report"), 1);
	assert_int_equal(distance("repport", "report"), 1);
	assert_int_equal(distance("repart", "report"), 1);
	assert_int_equal(distance("kitten", "sitting"), 3);
	assert_int_equal(distance("ca", "abc"), 3);
	memset(longest, 'a', sizeof(longest));
	assert_int_equal(nearest_distance(longest, NEAREST_MAX, "", 0),
			 NEAREST_MAX);
	assert_true(nearest_distance(longest, NEAREST_MAX + 1, "a", 1) ==
		    SIZE_MAX);
}

static void means(const char *wanted, const char *word)
{
	static const char *const words[] = {
		"run", "start", "stop", "report", "diff", "serve", "sql",
		"by", "no-own-peaks",
	};
	struct nearest nearest = { .wanted = wanted };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		nearest_try(&nearest, words[i], strlen(words[i]));
	if (word == NULL) {
		assert_null(nearest.word);
		return;
	}
	assert_non_null(nearest.word);
	assert_string_equal(nearest.word, word);
	assert_int_equal(nearest.size, strlen(word));
}

static void words(void **state)
{
	(void)state;
	means("reprot", "report");
	means("rpeotr", "report");
	means("rn", "run");
	means("rum", "run");
	means("serv", "serve");
	means("rep", "report");
	means("st", NULL);		/* several begin so */
	means("no-own-peak", "no-own-peaks");
	means("no-own", "no-own-peaks");
	means("ls", NULL);
	means("python3", NULL);
	means("x", NULL);
	means("", NULL);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(distances),
		cmocka_unit_test(words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
