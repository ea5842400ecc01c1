/* test_query.c: which keys make a query, and what a wrong one is told. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "cli/query/query.h"
#include "tests/unit/filter_words.h"

static void expect_wrong(const char *names, const char *why)
{
	struct query query = { .key_count = 0 };
	struct buffer said = { 0 };

	assert_false(query_parse_keys(&query, names, &said));
	assert_non_null(strstr(said.data, why));
	buffer_free(&said);
}

static void wrong_keys(void **state)
{
	(void)state;
	expect_wrong("", "no key to group by");
	expect_wrong("thread,", "no key to group by");
	expect_wrong("threads", "'threads' is no key to group by: there are "
		     "stack, site");
	expect_wrong("thread,site,thread", "'thread' is given twice");
	expect_wrong("within-file,within-library", "one key");
	expect_wrong("thread,size,size-class,arena", "3 keys at most");
	expect_wrong("site,function,file,line,library", "4 keys at most");
	expect_wrong("stack,site", "one site");
}

static void right_keys(void **state)
{
	const char *names = "library,thread,size-class";
	struct query query = { .key_count = 2 };
	struct block_keys keys = { .count = 3 };
	struct buffer said = { 0 };

	(void)state;
	assert_true(query_parse_keys(&query, names, &said));
	assert_int_equal(query.key_count, 3);
	query_key_names(&query, &said);
	assert_string_equal(said.data, names);
	query_block_keys(&query, &keys);
	assert_int_equal(keys.count, 2);
	assert_int_equal(keys.list[0], BLOCK_KEY_THREAD);
	assert_int_equal(keys.list[1], BLOCK_KEY_SIZE_CLASS);
	assert_true(query_needs_profile(&query));
	assert_true(query_has(&query, QUERY_OF_BLOCK));
	assert_false(query_has(&query, QUERY_OF_SITE));
	assert_false(query_is(&query, QUERY_OF_FRAME));
	assert_null(query_inclusive(&query));
	assert_string_equal(query_noun(&query, 1), "group");
	assert_true(query_parse_keys(&query, "within-library", &said));
	assert_ptr_equal(query_inclusive(&query), query.keys[0]);
	assert_string_equal(query_noun(&query, 1), "library");
	assert_string_equal(query_noun(&query, 2), "libraries");
	buffer_free(&said);
}

/* All that the model is to know of the query. */
static void what_the_model_does(void **state)
{
	struct filter *filter = filter_new(NULL);
	const struct query query = {
		.filter = filter, .begin_ns = 1, .until_ns = 2, .temporary = 3,
		.groups_max = 4, .wants = MODEL_WANT_CHAINS,
	};
	struct model_options options = query_model_options(&query);

	(void)state;
	assert_ptr_equal(options.filter, filter);
	assert_int_equal(options.begin_ns, 1);
	assert_int_equal(options.until_ns, 2);
	assert_int_equal(options.temporary, 3);
	assert_int_equal(options.groups_max, 4);
	assert_int_equal(options.wants, MODEL_WANT_CHAINS);
	assert_null(options.notes);
	assert_false(query_is_of_moment(&query));
	assert_int_equal(filter_take_word(filter, "alive-at", "1ms"), 0);
	assert_true(query_is_of_moment(&query));
	filter_free(filter);
}

/* Names once each; what is no stack's can be told. */
static void the_table(void **state)
{
	(void)state;
	for (unsigned i = 0; i < query_key_count; i++) {
		const struct query_key *key = &query_keys[i];

		assert_ptr_equal(query_key_find(key->name, strlen(key->name)),
				 key);
		assert_non_null(key->help);
		assert_non_null(key->noun);
		assert_non_null(key->plural);
		assert_int_equal(key->text != NULL, key->members != NULL);
		assert_int_equal(key->text != NULL,
				 key->of != QUERY_OF_STACK &&
				 key->of != QUERY_OF_SITE);
		assert_true(!key->inclusive || key->of == QUERY_OF_FRAME);
	}
	assert_int_equal(query_key_stack()->of, QUERY_OF_STACK);
	assert_int_equal(query_key_site()->of, QUERY_OF_SITE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(wrong_keys),
		cmocka_unit_test(right_keys),
		cmocka_unit_test(what_the_model_does),
		cmocka_unit_test(the_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
