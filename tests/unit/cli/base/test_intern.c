/*
 * test_intern.c: one copy of each text; long ones, empty ones, many of them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/base/intern.h"

static void once_each(void **state)
{
	struct intern set = { 0 };
	const char *first[3000];
	char text[32];

	(void)state;
	for (int round = 0; round < 2; round++)
		for (int i = 0; i < 3000; i++) {
			const char *one;

			snprintf(text, sizeof(text), "name %d", i);
			one = intern_string(&set, text);
			assert_string_equal(one, text);
			assert_ptr_not_equal(one, text);
			if (round == 0)
				first[i] = one;
			assert_ptr_equal(one, first[i]);
		}
	assert_int_equal(set.count, 3000);
	intern_free(&set);
}

static void numbers(void **state)
{
	struct intern set = { 0 };
	char text[32];

	(void)state;
	for (int round = 0; round < 2; round++)
		for (uint32_t i = 0; i < 3000; i++) {
			int size = snprintf(text, sizeof(text), "name %u", i);

			assert_int_equal(set.count, round ? 3000 : i);
			assert_int_equal(intern_number(&set, text,
						       (size_t)size), i);
			assert_string_equal(set.list[i], text);
			assert_ptr_equal(intern_string(&set, text),
					 set.list[i]);
		}
	intern_free(&set);
}

static void beginnings_of_each_other(void **state)
{
	struct intern set = { 0 };
	char text[2001];

	(void)state;
	memset(text, 'a', sizeof(text));
	for (size_t size = 2000; size > 0; size--)
		assert_int_equal(strlen(intern_bytes(&set, text, size)), size);
	assert_int_equal(set.count, 2000);
	intern_free(&set);
}

static void by_length(void **state)
{
	struct intern set = { 0 };
	const char *ab, *empty;
	char *long_one = malloc(300001);

	(void)state;
	ab = intern_bytes(&set, "abc", 2);
	assert_string_equal(ab, "ab");
	assert_ptr_equal(intern_string(&set, "ab"), ab);
	assert_ptr_not_equal(intern_string(&set, "abc"), ab);
	empty = intern_bytes(&set, "xyz", 0);
	assert_string_equal(empty, "");
	assert_ptr_equal(intern_string(&set, ""), empty);
	memset(long_one, 'x', 300000);
	long_one[300000] = 0;
	assert_string_equal(intern_string(&set, long_one), long_one);
	assert_ptr_equal(intern_bytes(&set, long_one, 300000),
			 intern_string(&set, long_one));
	assert_ptr_equal(intern_string(&set, "ab"), ab);
	free(long_one);
	intern_free(&set);
}

static void broken_ones(void **state)
{
	struct intern set = { 0 };
	uint32_t *slot, *free_slot, number;
	const char *string;

	(void)state;
	assert_true(intern_is_valid(&set));
	for (string = "a string of many ends"; *string; string++)
		intern_string(&set, string);
	assert_true(intern_is_valid(&set));
	set.count++;
	assert_false(intern_is_valid(&set));
	set.count--;
	set.capacity--;
	assert_false(intern_is_valid(&set));
	set.capacity++;
	for (slot = set.slots; *slot == INTERN_FREE;)
		slot++;
	for (free_slot = set.slots; *free_slot != INTERN_FREE;)
		free_slot++;
	number = *slot;
	*free_slot = number;
	*slot = INTERN_FREE;
	assert_false(intern_is_valid(&set));
	*slot = number;
	*free_slot = INTERN_FREE;
	assert_true(intern_is_valid(&set));
	/* struct intern_block: next, used, size */
	((size_t *)set.blocks)[1] += 1u << 20;
	assert_false(intern_is_valid(&set));
	intern_free(&set);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(once_each),
		cmocka_unit_test(numbers),
		cmocka_unit_test(beginnings_of_each_other),
		cmocka_unit_test(by_length),
		cmocka_unit_test(broken_ones),
	};

	return cmocka_run_group_tests_name("intern", tests, NULL, NULL);
}
