/* test_style.c: when results have colours and bars, and how wide they are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <pty.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/base/terminal/style.h"

static const char *const variables[] = {
	"NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "LC_ALL", "LC_CTYPE",
};

static int forget(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++)
		unsetenv(variables[i]);
	setenv("TERM", "xterm", 1);
	setenv("LANG", "C", 1);
	style_set_color("auto");
	return 0;
}

static bool coloured(FILE *out)
{
	return style_of(out)->title[0] != 0;
}

/* A terminal of so many columns. */
static FILE *terminal(unsigned short columns)
{
	const struct winsize size = { .ws_row = 24, .ws_col = columns };
	int outer, inner;

	assert_int_equal(openpty(&outer, &inner, NULL, NULL, &size), 0);
	return fdopen(inner, "w");
}

static void a_file_is_plain(void **state)
{
	FILE *out = tmpfile();

	(void)state;
	assert_false(coloured(out));
	assert_int_equal(style_of(out)->bars, STYLE_NO_BARS);
	assert_int_equal(style_columns(), 79);
	style_set_color("always");
	assert_true(coloured(out));
	assert_int_equal(style_of(out)->bars, STYLE_ASCII_BARS);
	setenv("NO_COLOR", "1", 1);
	assert_true(coloured(out));
	fclose(out);
}

static void a_terminal_has_both(void **state)
{
	FILE *out = terminal(120);

	(void)state;
	assert_true(coloured(out));
	assert_int_equal(style_of(out)->bars, STYLE_ASCII_BARS);
	assert_int_equal(style_columns(), 119);
	setenv("LANG", "de_DE.UTF-8", 1);
	assert_int_equal(style_of(out)->bars, STYLE_BLOCK_BARS);
	setenv("LC_ALL", "C", 1);
	assert_int_equal(style_of(out)->bars, STYLE_ASCII_BARS);
	style_set_color("never");
	assert_false(coloured(out));
	assert_int_equal(style_of(out)->bars, STYLE_NO_BARS);
	fclose(out);
	out = terminal(20);
	style_of(out);
	assert_int_equal(style_columns(), 59);
	fclose(out);
}

static void the_environment_decides(void **state)
{
	FILE *file = tmpfile(), *out = terminal(80);

	(void)state;
	setenv("NO_COLOR", "", 1);
	assert_true(coloured(out));
	setenv("NO_COLOR", "1", 1);
	assert_false(coloured(out));
	assert_int_equal(style_of(out)->bars, STYLE_ASCII_BARS);
	setenv("CLICOLOR_FORCE", "1", 1);
	assert_false(coloured(file));
	unsetenv("NO_COLOR");
	assert_true(coloured(file));
	setenv("CLICOLOR_FORCE", "0", 1);
	assert_false(coloured(file));
	assert_true(coloured(out));
	setenv("CLICOLOR", "0", 1);
	assert_false(coloured(out));
	unsetenv("CLICOLOR");
	setenv("TERM", "dumb", 1);
	assert_false(coloured(out));
	fclose(out);
	fclose(file);
}

/* What a bar of four cells looks like. */
static void bar(enum style_bars bars, double part, double whole,
		const char *wanted)
{
	struct style style = { "", "", "", "", "", "", "", bars };
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	style_put_bar(&style, out, part, whole, 4);
	fclose(out);
	assert_string_equal(text, wanted);
	free(text);
}

static void bars(void **state)
{
	(void)state;
	bar(STYLE_NO_BARS, 1, 1, "");
	bar(STYLE_ASCII_BARS, 1, 1, "####");
	bar(STYLE_ASCII_BARS, 1, 2, "##  ");
	bar(STYLE_ASCII_BARS, 2, 1, "####");
	bar(STYLE_ASCII_BARS, 0, 1, "    ");
	bar(STYLE_ASCII_BARS, 1, 0, "    ");
	bar(STYLE_BLOCK_BARS, 1, 1, "\u2588\u2588\u2588\u2588");
	bar(STYLE_BLOCK_BARS, 3, 8, "\u2588\u258c  ");
	bar(STYLE_BLOCK_BARS, 1, 32, "\u258f   ");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_file_is_plain, forget),
		cmocka_unit_test_setup(a_terminal_has_both, forget),
		cmocka_unit_test_setup(the_environment_decides, forget),
		cmocka_unit_test(bars),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
