/* test_option_help.c: each option of a recording is one of the command. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <ctype.h>
#include <string.h>

#include "cli/command/option_help.h"

static void each_has_the_name_of_its_variable(void **state)
{
	(void)state;
	for (int id = 0; id < OPTION_COUNT; id++) {
		const char *variable = options_table[id].variable + 7;
		const char *name = option_help[id].name;

		assert_non_null(name);
		assert_int_equal(strlen(name), strlen(variable));
		for (; *name; name++, variable++)
			assert_int_equal(*name == '-' ? '_' : toupper(*name),
					 *variable);
	}
}

/* A choice's words say its value, a switch has none; what may be left out has
 * something that holds then. */
static void each_says_its_value(void **state)
{
	(void)state;
	for (int id = 0; id < OPTION_COUNT; id++) {
		const struct option_help *help = &option_help[id];
		enum option_type type = options_table[id].type;

		assert_non_null(help->text);
		assert_int_equal(help->value == NULL,
				 type == OPTION_CHOICE ||
					 type == OPTION_SWITCH);
		assert_int_equal(options_table[id].words != NULL,
				 type == OPTION_CHOICE);
		assert_int_equal(help->bare != NULL,
				 help->value && help->value[0] == '[');
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_has_the_name_of_its_variable),
		cmocka_unit_test(each_says_its_value),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
