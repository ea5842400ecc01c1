/* test_command.c: options by table. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/base/terminal/command.h"

enum { LIST = 1, FLAG, CHOICE };

static const struct command_option options[] = {
	{ LIST, "list", 'l', "TEXT", NULL, "a list" },
	{ FLAG, "flag", 'f', NULL, NULL, "a flag" },
	{ CHOICE, "choice", 0, "one|two", "one", "a choice" },
	COMMAND_COMMON_OPTIONS,
};
static const char *const nothing[] = { NULL };
static struct command command = {
	.name = "test", .operands = "", .summary = "", .description = nothing,
	.examples = nothing, .options = options,
	.option_count = sizeof(options) / sizeof(options[0]),
	.wrong_use = 42,
};
static char seen[256];

static int take(void *owner, int id, const char *value)
{
	(void)owner;
	snprintf(seen + strlen(seen), sizeof(seen) - strlen(seen), "%d=%s;",
		 id, value ? value : "-");
	return value && strcmp(value, "bad") == 0 ? -EINVAL : 0;
}

/* Arguments separated by blanks; what came of them, or the status. */
static int parse(const char *line, int *operands)
{
	static char copy[256];
	char *argv[32] = { "test" };
	int argc = 1, status = -1;

	strcpy(copy, line);
	seen[0] = 0;
	for (char *word = strtok(copy, " "); word; word = strtok(NULL, " "))
		argv[argc++] = word;
	if (command_parse(&command, argc, argv, take, NULL, operands,
			  &status)) {
		for (int i = 1; i <= *operands; i++) {
			strcat(seen, argv[i]);
			strcat(seen, ",");
		}
		return 0;
	}
	return status;
}

static void right(const char *line, const char *expected)
{
	int operands;

	assert_int_equal(parse(line, &operands), 0);
	assert_string_equal(seen, expected);
}

static void wrong(const char *line)
{
	int operands;

	assert_int_equal(parse(line, &operands), 42);
}

static void forms(void **state)
{
	(void)state;
	right("", "");
	right("a --list=x b", "1=x;a,b,");
	right("--list x -lx -l x", "1=x;1=x;1=x;");
	right("-flx", "2=-;1=x;");
	right("--flag -- --flag -f", "2=-;--flag,-f,");
	right("- --list -f", "1=-f;-,");
	right("--list= a", "1=;a,");
	right("--choice two", "3=two;");
}

static void mistakes(void **state)
{
	(void)state;
	wrong("--unknown");
	wrong("-x");
	wrong("--list");
	wrong("-l");
	wrong("--flag=1");
	wrong("--fla");
	wrong("--choice three");
	wrong("--choice one|two");
	wrong("--list bad");
}

static void program_arguments(void **state)
{
	(void)state;
	command.stops_at_operand = true;
	right("-f prog -f --list", "2=-;prog,-f,--list,");
	right("-- prog -- -f", "prog,--,-f,");
	command.stops_at_operand = false;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(forms),
		cmocka_unit_test(mistakes),
		cmocka_unit_test(program_arguments),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
