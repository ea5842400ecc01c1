/*
 * test_firefox_tables.c: more functions than a byte can count, each one by
 * itself.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/export/firefox/firefox_tables.h"
#include "tests/unit/model_feed.h"

#define FUNCTIONS 70000u
#define NODE(i) (GT_STOP_COUNT + (uint32_t)(i))
#define ADDRESS(i) (0x10000 + UINT64_C(16) * (i))

static void add_functions(struct model *model)
{
	char *lines = malloc(FUNCTIONS * 32);
	size_t size = 0;

	for (uint32_t i = 0; i < FUNCTIONS; i++) {
		feed_node(model, NODE(i), GT_STOP_BOTTOM, ADDRESS(i) + 1);
		size += (size_t)sprintf(lines + size, "%lx 8 f%u\n",
					(unsigned long)ADDRESS(i), i);
	}
	feed_names(model, lines);
	free(lines);
}

static void functions_are_told_apart(void **state)
{
	struct model *model = model_new(NULL, NULL);
	const struct debugfile_places places = { 0 };
	struct firefox_tables tables;
	struct frames frames;

	(void)state;
	add_functions(model);
	frames_init(&frames, model, &places, false);
	firefox_tables_init(&tables, &frames);
	for (uint32_t i = 0; i < FUNCTIONS; i++) {
		uint32_t stack = firefox_stack(&tables, model_node(model,
								   NODE(i)));
		uint32_t frame = tables.stacks.pairs[stack].second;
		const struct pair *func =
			&tables.funcs.pairs[tables.list[frame].func];
		char name[16];

		snprintf(name, sizeof(name), "f%u", i);
		assert_string_equal(tables.texts.list[func->first], name);
	}
	assert_int_equal(tables.funcs.pair_count, FUNCTIONS);
	firefox_tables_free(&tables);
	frames_free(&frames);
	model_free(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_are_told_apart),
	};

	return cmocka_run_group_tests_name("firefox_tables", tests, NULL,
					   NULL);
}
