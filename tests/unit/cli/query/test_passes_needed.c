/* test_passes_needed.c: which passes a query needs, from the query alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "cli/query/passes_needed.h"
#include "tests/unit/filter_words.h"

static void expect(const struct query *query, unsigned passes)
{
	for (int i = 0; i < QUERY_PASSES; i++)
		assert_int_equal(query_needs_pass(query, i), passes >> i & 1);
}

#define PASS(name) (1u << QUERY_PASS_##name)

static void by_the_predicate(void **state)
{
	struct filter *filter = filter_new(NULL);
	struct query query = { .filter = filter };

	(void)state;
	expect(&query, PASS(FIGURES));
	assert_int_equal(filter_take_word(filter, "function", "f"), 0);
	expect(&query, PASS(FIGURES));
	query.until_ns = 1;
	expect(&query, PASS(OUTLINE) | PASS(FIGURES));
	query.until_ns = 0;
	query.begin_ns = 1;
	expect(&query, PASS(OUTLINE) | PASS(FIGURES));
	query.begin_ns = 0;
	assert_int_equal(filter_take_word(filter, "size-min", "1"), 0);
	expect(&query, PASS(OUTLINE) | PASS(FIGURES));
	assert_int_equal(filter_take_word(filter, "fate", "live"), 0);
	expect(&query, PASS(OUTLINE) | PASS(ENDS) | PASS(FIGURES));
	filter_free(filter);
}

static void by_keys_and_figures(void **state)
{
	struct query query = { .over_time = true };
	struct buffer why = { 0 };

	(void)state;
	expect(&query, PASS(FIGURES) | PASS(SERIES));
	query.at_snapshots = true;
	expect(&query, PASS(FIGURES) | PASS(SERIES) | PASS(LOOKS));
	query.over_time = query.at_snapshots = false;
	assert_true(query_parse_keys(&query, "lifetime-class", &why));
	expect(&query, PASS(ENDS) | PASS(FIGURES));
	assert_true(query_parse_keys(&query, "mapping", &why));
	expect(&query, PASS(OUTLINE) | PASS(FIGURES));
	assert_true(query_parse_keys(&query, "thread", &why));
	expect(&query, PASS(FIGURES));
	query.order = MEASURE_OWN_PEAK;
	expect(&query, PASS(FIGURES) | PASS(PEAKS));
	assert_true(query_parse_keys(&query, "stack,thread", &why));
	expect(&query, PASS(FIGURES));
	buffer_free(&why);
}

static void explained(void **state)
{
	struct query query = { .groups_max = 7 };
	struct buffer text = { 0 };

	(void)state;
	assert_true(query_parse_keys(&query, "thread", &text));
	query_explain(&query, &text);
	assert_non_null(strstr(text.data, "read 1 time: also from a pipe\n"));
	assert_non_null(strstr(text.data, "grouped by thread\n"));
	assert_non_null(strstr(text.data, "at most 7 pairs"));
	buffer_free(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_the_predicate),
		cmocka_unit_test(by_keys_and_figures),
		cmocka_unit_test(explained),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
