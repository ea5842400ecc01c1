/* test_command.c: options by table. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/base/terminal/command.h"

enum { LIST = 1, FLAG, CHOICE, OTHERS, MORE };

static const struct command_option options[] = {
	{ LIST, "list", 'l', "TEXT", NULL, "a list" },
	{ FLAG, "flag", 'f', NULL, NULL, "a flag" },
	{ CHOICE, "choice", 0, "one|two", "one", "a choice" },
	{ OTHERS, "others", 'o', COMMAND_WORDS, "red", "one of %s, or %s" },
	{ MORE, "more", 0, COMMAND_WORDS, NULL, "of another" },
	COMMAND_COMMON_OPTIONS,
};
static const char *word(size_t n, const char **meaning)
{
	static const char *const words[][2] = {
		{ "red", "a colour" }, { "green", "100%s another" },
	};

	if (n == sizeof(words) / sizeof(words[0]))
		return NULL;
	*meaning = words[n][1];
	return words[n][0];
}
static const char *one_word(size_t n, const char **meaning)
{
	*meaning = "nothing";
	return n == 0 ? "black" : NULL;
}
static const struct command_words words[] = {
	{ MORE, one_word }, { OTHERS, word }, { 0, NULL },
};
static const char *const nothing[] = { NULL };
static struct command command = {
	.name = "test", .operands = "", .summary = "", .description = nothing,
	.examples = nothing, .options = options,
	.option_count = sizeof(options) / sizeof(options[0]),
	.words = words, .wrong_use = 42,
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
	right("--others=red -ogreen --more black", "4=red;4=green;5=black;");
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
	wrong("--others blue");
	wrong("--others |");
	wrong("--more red");
	wrong("--list bad");
}

/* What it says of a line that is wrong. */
static void says(const char *line, const char *wanted)
{
	static char text[512];
	FILE *said = tmpfile();
	int error = dup(STDERR_FILENO), operands;
	size_t size;

	fflush(stderr);
	dup2(fileno(said), STDERR_FILENO);
	parse(line, &operands);
	fflush(stderr);
	dup2(error, STDERR_FILENO);
	close(error);
	rewind(said);
	size = fread(text, 1, sizeof(text) - 1, said);
	text[size] = 0;
	fclose(said);
	if (strstr(text, wanted) == NULL)
		fail_msg("%s: %s", line, text);
}

static void what_was_meant(void **state)
{
	(void)state;
	says("--lsit", "unknown option --lsit: did you mean --list?");
	says("--fla=1", "unknown option --fla=1: did you mean --flag?");
	says("--unknown", "unknown option --unknown: try `gnomon ");
	says("--choice tow", "did you mean two? give one|two");
	says("--others gren", "did you mean green? give red|green");
	says("--others blue", "is not understood: give red|green");
}

static void program_arguments(void **state)
{
	(void)state;
	command.stops_at_operand = true;
	right("-f prog -f --list", "2=-;prog,-f,--list,");
	right("-- prog -- -f", "prog,--,-f,");
	command.stops_at_operand = false;
}

/* Words of another table, in help and wherever values are told. */
static void words_of_others(void **state)
{
	static char text[4096];
	struct buffer made = { 0 };
	FILE *out = fmemopen(text, sizeof(text), "w");

	(void)state;
	assert_string_equal(command_value(&command, &options[CHOICE - 1],
					  &made), "one|two");
	assert_null(command_value(&command, &options[FLAG - 1], &made));
	assert_string_equal(command_value(&command, &options[OTHERS - 1],
					  &made), "red|green");
	assert_string_equal(command_help(&command, &options[OTHERS - 1],
					 &made), "one of red: a colour; green: "
			    "100%s another, or %s");
	assert_string_equal(command_help(&command, &options[MORE - 1], &made),
			    "of another");
	buffer_free(&made);
	command_print_help(&command, out);
	fclose(out);
	assert_non_null(strstr(text, "  -o, --others red|green    one of red: "
			       "a colour;"));
	assert_non_null(strstr(text, "      --more black          of another\n"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(forms),
		cmocka_unit_test(mistakes),
		cmocka_unit_test(what_was_meant),
		cmocka_unit_test(program_arguments),
		cmocka_unit_test(words_of_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
