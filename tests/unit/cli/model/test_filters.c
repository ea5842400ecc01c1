/*
 * test_filters.c: words of filters and their values, right and wrong ones;
 * moments.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/model/filters.h"
#include "tests/unit/filter_words.h"

static void every_word_once(void **state)
{
	(void)state;
	assert_int_equal(filter_options.count, FILTER_END - FILTER_FIRST);
	for (size_t i = 0; i < filter_options.count; i++) {
		const struct command_option *option =
			&filter_options.options[i];

		assert_int_equal(option->id, FILTER_FIRST + (int)i);
		assert_true(filter_is_option(option->id));
		for (size_t k = 0; k < i; k++)
			assert_string_not_equal(
				option->name, filter_options.options[k].name);
	}
	assert_false(filter_is_option(FILTER_END));
	assert_false(filter_is_option(FILTER_FIRST - 1));
}

static void good_values(void **state)
{
	static const struct {
		const char *word, *value;
		enum filter_id id;
		uint64_t number;
	} good[] = {
		{ "size-min", "64k", FILTER_SIZE_MIN, 65536 },
		{ "last-size-max", "1.5M", FILTER_LAST_SIZE_MAX, 1572864 },
		{ "lifetime-max", "250ms", FILTER_LIFETIME_MAX, 250000000 },
		{ "address-min", "0x7f00", FILTER_ADDRESS_MIN, 0x7f00 },
		{ "address-max", "100", FILTER_ADDRESS_MAX, 100 },
		{ "fate", "live", FILTER_FATE, FILTER_FATE_LIVE },
		{ "fate", "group-live", FILTER_FATE, FILTER_FATE_GROUP_LIVE },
		{ "thread", "1234", FILTER_THREAD, 1234 },
		{ "arena", "other", FILTER_ARENA, 1 },
		{ "mmapped", "yes", FILTER_MMAPPED, 0 },
		{ "chain-length-min", "3", FILTER_CHAIN_LENGTH_MIN, 3 },
		{ "depth-max", "12", FILTER_DEPTH_MAX, 12 },
	};
	struct filter *filter = filter_new(NULL);

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		const struct filter_word *word;
		size_t n = 0;

		assert_int_equal(filter_take_word(filter, good[i].word,
						  good[i].value), 0);
		while (filter_word(filter, good[i].id, n + 1) != NULL)
			n++;
		word = filter_word(filter, good[i].id, n);
		assert_int_equal(word->number, good[i].number);
		assert_string_equal(word->text, good[i].value);
	}
	assert_true(filter_has_blocks(filter));
	assert_true(filter_has_stacks(filter));
	assert_int_equal(filter_take_word(filter, "thread", "^worker"), 0);
	assert_non_null(filter_word(filter, FILTER_THREAD, 1)->pattern);
	filter_free(filter);
}

/* As they were given, wrong ones left out; fit for a terminal. */
static void words_as_text(void **state)
{
	struct filter *filter = filter_new(NULL);

	(void)state;
	assert_string_equal(filter_text(NULL), "");
	assert_string_equal(filter_text(filter), "");
	assert_int_equal(filter_take_word(filter, "size-min", "64k"), 0);
	assert_int_equal(filter_take_word(filter, "size-max", "x"), -EINVAL);
	assert_int_equal(filter_take(filter, FILTER_FUNCTION, "a\tb"), 0);
	assert_string_equal(filter_text(filter), " --size-min 64k --function "
			    "a b");
	filter_free(filter);
}

static void bad_values(void **state)
{
	static const char *const bad[][2] = {
		{ "size-min", "" }, { "size-min", "x" }, { "size-min", "-1" },
		{ "size-max", "99999999999T" }, { "from", "yesterday" },
		{ "from", "101%" }, { "to", "@" }, { "to", "%" },
		{ "alive-at", "5" }, { "lifetime-min", "3x" },
		{ "fate", "leaked" }, { "fate", "" }, { "thread", "(" },
		{ "function", "[" }, { "address-min", "-5" },
		{ "address-min", "0x" "10000000000000000" },
		{ "address-max", "12z" }, { "marker", "" },
		{ "chain-length-min", "1.5" }, { "depth-min", "k" },
	};
	struct filter *filter = filter_new(NULL);

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		int error = filter_take_word(filter, bad[i][0], bad[i][1]);

		if (error != -EINVAL && error != -ERANGE &&
		    error != -ECANCELED)
			fail_msg("%s=%s", bad[i][0], bad[i][1]);
	}
	assert_int_equal(filter_take_word(filter, "size", "3"), -ENOENT);
	assert_int_equal(filter_take(filter, 7, "3"), -ENOENT);
	assert_false(filter_has_blocks(filter));
	assert_false(filter_has_stacks(filter));
	assert_false(filter_has_blocks(NULL));
	assert_null(filter_word(NULL, FILTER_FROM, 0));
	filter_free(filter);
}

static void moments(void **state)
{
	struct moment moment;

	(void)state;
	assert_int_equal(moment_parse("1h2m", &moment), 0);
	assert_int_equal(moment.kind, MOMENT_TIME);
	assert_int_equal(moment.ns, UINT64_C(3720000000000));
	assert_int_equal(moment_parse("start", &moment), 0);
	assert_int_equal(moment.ns, 0);
	assert_int_equal(moment_parse("12.5%", &moment), 0);
	assert_int_equal(moment.kind, MOMENT_SHARE);
	assert_true(moment.share == 0.125);
	assert_int_equal(moment_parse("end", &moment), 0);
	assert_true(moment.share == 1);
	assert_int_equal(moment_parse("@load", &moment), 0);
	assert_int_equal(moment.kind, MOMENT_NAME);
	assert_string_equal(moment.name, "load");
	assert_int_equal(moment_parse("", &moment), -EINVAL);
	assert_int_equal(moment_parse("-3s", &moment), -EINVAL);
	assert_int_equal(moment_parse("100.1%", &moment), -ERANGE);
}

static bool fits(const char *const *words)
{
	struct filter *filter = filter_new(NULL);
	bool fits;

	for (; words[0] != NULL; words += 2)
		assert_int_equal(filter_take_word(filter, words[0], words[1]),
				 0);
	fits = filter_fits(filter, NULL);
	filter_free(filter);
	return fits;
}

#define FITS(...) fits((const char *const []){ __VA_ARGS__, NULL })

static void words_that_exclude_each_other(void **state)
{
	(void)state;
	assert_true(FITS("size-min", "1k", "size-max", "1k"));
	assert_false(FITS("size-min", "1025", "size-max", "1k"));
	/* Any of the one with any of the other. */
	assert_true(FITS("size-min", "2k", "size-max", "1k", "size-min", "5"));
	assert_true(FITS("size-min", "2k", "lifetime-max", "1ns"));
	assert_false(FITS("lifetime-min", "1s", "lifetime-max", "10ms"));
	assert_false(FITS("group-live-min", "2", "group-live-max", "1"));
	assert_false(FITS("from", "50%", "to", "50%"));
	assert_true(FITS("from", "start", "to", "1ns"));
	assert_false(FITS("from", "end", "to", "start", "from", "99%", "to",
			  "1%"));
	/* That depends on the trace. */
	assert_true(FITS("from", "90%", "to", "1ms"));
	assert_true(FITS("from", "@b", "to", "@a"));
	assert_true(FITS("group-peak-time-min", "10%", "group-peak-time-max",
			 "10%"));
	assert_false(FITS("group-peak-time-min", "2s", "group-peak-time-max",
			  "1s"));
}

static void what_matched_is_known(void **state)
{
	struct filter *filter = filter_new(NULL);

	(void)state;
	filter_take_word(filter, "function", "a");
	filter_take_word(filter, "function", "b");
	assert_false(filter_word(filter, FILTER_FUNCTION, 0)->matched);
	filter_matched(filter, filter_word(filter, FILTER_FUNCTION, 1));
	assert_false(filter_word(filter, FILTER_FUNCTION, 0)->matched);
	assert_true(filter_word(filter, FILTER_FUNCTION, 1)->matched);
	filter_free(filter);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_word_once),
		cmocka_unit_test(good_values),
		cmocka_unit_test(words_as_text),
		cmocka_unit_test(bad_values),
		cmocka_unit_test(moments),
		cmocka_unit_test(words_that_exclude_each_other),
		cmocka_unit_test(what_matched_is_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
