/* test_measure_words.c: figures as words of options. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cli/command/measure_words.h"

/* How many; `name` is one of them as often as `times`. */
static size_t count(const char *(*word)(size_t n, const char **meaning),
		    const char *name, unsigned times)
{
	const char *one, *meaning;
	size_t n = 0;

	for (; (one = word(n, &meaning)) != NULL; n++) {
		assert_true(strlen(meaning) > 0);
		if (strcmp(one, name) == 0)
			times--;
	}
	assert_int_equal(times, 0);
	return n;
}

static void words(void **state)
{
	(void)state;
	assert_int_equal(count(measure_words_all, "age", 1), measure_count);
	assert_int_equal(count(measure_words_all, "live", 1), measure_count);
	assert_true(count(measure_words_lines, "own-peak", 1) < measure_count);
	count(measure_words_lines, "age", 0);
	count(measure_words_sums, "own-peak", 0);
	count(measure_words_sums, "temporary", 1);
	assert_int_equal(count(measure_words_exported, "temporary", 1), 5);
}

static void taken(void **state)
{
	(void)state;
	assert_int_equal(measure_words_take("live"), MEASURE_LIVE);
	assert_int_equal(measure_words_take("temporary"), MEASURE_TEMPORARY);
}

static void listed(void **state)
{
	struct buffer text = { 0 };

	(void)state;
	measure_words_list(&text, MEASURE_OVERVIEW);
	assert_string_equal(text.data,
			    "live, peak, total, count or temporary");
	buffer_free(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words),
		cmocka_unit_test(taken),
		cmocka_unit_test(listed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
