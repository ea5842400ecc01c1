/*
 * test_launch_words.c: what a recorder gets of its process's environment, and
 * which program it is. It includes launch_words.c, whose tables nobody else has
 * to see.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "preload/base/variant.h"

static bool dormant;
#define variant_off dormant	/* which library this is */

#include "preload/start/launch_words.c"

#define OURS "/opt/lib/gnomon/libgnomon.so"

/* It is called once in a process. */
static void report(char *const *environment, const char *library)
{
	memset(launch_envp, 0, sizeof(launch_envp));
	memset(launch_text, 0, sizeof(launch_text));
	memset(launch_program, 0, sizeof(launch_program));
	launch_environment(environment, library);
}

static void are_told(const char *const *want)
{
	unsigned i;

	for (i = 0; want[i]; i++) {
		assert_non_null(launch_envp[i]);
		assert_string_equal(launch_envp[i], want[i]);
	}
	assert_null(launch_envp[i]);
}

static int prepare(void **state)
{
	(void)state;
	dormant = false;
	return 0;
}

static void only_variables_for_the_recorder_are_passed(void **state)
{
	static char *from[] = {
		"GNOMON_OUTPUT=a trace", "LD_PRELOAD=libgnomon.so",
		"LD_LIBRARY_PATH=/opt", "PATH=/bin", "HOME=/root",
		"HOMES=two", "XHOME=three", "LANG=C", "LANGUAGES=none",
		"LC_ALL=", "TZ=UTC", "TZDIR=/zones", "SECRET=x", "NO_COLOR",
		"NO_COLOR=1", "MALLOC_ARENA_MAX=1", "GLIBC_TUNABLES=a=b",
		"=", "", "GNOMON_", "DEBUGINFOD_URLS=http://x",
		"XDG_CACHE_HOME=/c", "TMPDIR=/t", NULL
	};
	static const char *const want[] = {
		"GNOMON_OUTPUT=a trace", "PATH=/bin", "HOME=/root", "LANG=C",
		"LC_ALL=", "TZ=UTC", "NO_COLOR=1", "GNOMON_",
		"DEBUGINFOD_URLS=http://x", "XDG_CACHE_HOME=/c", "TMPDIR=/t",
		NULL
	};

	(void)state;
	report(from, OURS);
	are_told(want);
}

/* The program may write over its environment, or free it. */
static void variables_are_copied(void **state)
{
	static const char *const want[] = { "GNOMON_A=1", "PATH=/bin", NULL };
	char first[] = "GNOMON_A=1", second[] = "PATH=/bin";
	char *from[] = { first, second, NULL };

	(void)state;
	report(from, OURS);
	memset(first, '#', sizeof(first));
	memset(second, '#', sizeof(second));
	from[0] = NULL;
	are_told(want);
}

static void no_environment(void **state)
{
	static const char *const want[] = { NULL };
	static char *from[] = { NULL };

	(void)state;
	report(NULL, OURS);
	are_told(want);
	report(from, OURS);
	are_told(want);
}

/* Later ones count more, so the program's own comes behind. */
static void dormant_flag_comes_first(void **state)
{
	static char *from[] = { "GNOMON_OFF=0", "TERM=vt100", NULL };
	static const char *const want[] = { "GNOMON_OFF=1", "GNOMON_OFF=0",
					    "TERM=vt100", NULL };
	struct options options;
	const char *bad;

	(void)state;
	dormant = true;
	report(from, OURS);
	are_told(want);
	options_default(&options);
	assert_int_equal(options_environment(&options, launch_envp, &bad), 0);
	assert_int_equal(options.number[OPTION_OFF], 0);
	report(NULL, OURS);
	options_default(&options);
	assert_int_equal(options_environment(&options, launch_envp, &bad), 0);
	assert_int_equal(options.number[OPTION_OFF], 1);
}

static void path_of_the_recorder(void **state)
{
	static const struct {
		const char *named, *library, *want;
	} cases[] = {
		{ NULL, OURS, "/opt/lib/gnomon/gnomon-recorder" },
		{ "GNOMON_RECORDER=", OURS, "/opt/lib/gnomon/gnomon-recorder" },
		{ "GNOMON_RECORDER=/x/y", OURS, "/x/y" },
		{ "GNOMON_RECORDERS=/x/y", OURS,
		  "/opt/lib/gnomon/gnomon-recorder" },
		{ "GNOMON_RECORDER=/x/y", NULL, "/x/y" },
		{ NULL, "/libgnomon.so", "/gnomon-recorder" },
	};
	char *from[] = { "PATH=/bin", NULL, NULL };
	char here[GT_PATH_MAX], want[GT_PATH_MAX + 64];
	unsigned i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		from[1] = (char *)cases[i].named;
		report(from, cases[i].library);
		assert_string_equal(launch_program, cases[i].want);
	}
	/* wherever a child of the program will be that is to be recorded */
	assert_non_null(getcwd(here, sizeof(here)));
	from[1] = NULL;
	report(from, "./libgnomon.so");
	sprintf(want, "%s/./gnomon-recorder", here);
	assert_string_equal(launch_program, want);
	from[1] = "GNOMON_RECORDER=x/y";
	report(from, OURS);
	sprintf(want, "%s/x/y", here);
	assert_string_equal(launch_program, want);
}

/* A path that is too long names no other file than was meant: there is none of
 * that length. */
static void too_long_path_is_refused(void **state)
{
	static char named[2 * GT_PATH_MAX] = "GNOMON_RECORDER=/";
	char *from[] = { named, NULL };

	(void)state;
	memset(named + strlen(named), 'x', GT_PATH_MAX + 100);
	report(from, OURS);
	assert_int_equal(strlen(launch_program), GT_PATH_MAX - 1);
	assert_int_equal(launch_words_execute(&(struct launch){ 0 }),
			 -ENAMETOOLONG);
}

/* What has no room is left out whole; what comes after it and has is not. */
static void variables_beyond_the_bytes_are_omitted(void **state)
{
	static char large[LAUNCH_TEXT + 100] = "GNOMON_LARGE=";
	static char half[LAUNCH_TEXT / 2] = "GNOMON_HALF=";
	static char rest[LAUNCH_TEXT / 2 + 1] = "GNOMON_REST=";
	static char *from[] = { large, half, rest, "GNOMON_SMALL=1", NULL };
	static const char *const want[] = { half, "GNOMON_SMALL=1", NULL };

	(void)state;
	memset(large + strlen(large), 'x', LAUNCH_TEXT);
	memset(half + strlen(half), 'x', sizeof(half) - 1 - strlen(half));
	memset(rest + strlen(rest), 'x', sizeof(rest) - 1 - strlen(rest));
	report(from, OURS);
	are_told(want);
	/* to the last byte */
	rest[strlen(rest) - 1] = 0;
	report(from, OURS);
	assert_string_equal(launch_envp[1], rest);
	assert_null(launch_envp[2]);
	assert_int_equal(launch_text[LAUNCH_TEXT - 1], 0);
}

static void variables_beyond_the_number_are_omitted(void **state)
{
	static char text[LAUNCH_VARIABLES + 10][24];
	static char *from[LAUNCH_VARIABLES + 11];
	unsigned i;

	(void)state;
	for (i = 0; i < LAUNCH_VARIABLES + 10; i++) {
		sprintf(text[i], "GNOMON_%u=1", i);
		from[i] = text[i];
	}
	report(from, OURS);
	for (i = 0; i < LAUNCH_VARIABLES; i++)
		assert_string_equal(launch_envp[i], text[i]);
	assert_null(launch_envp[LAUNCH_VARIABLES]);
	dormant = true;
	report(from, OURS);
	assert_string_equal(launch_envp[LAUNCH_VARIABLES - 1],
			    text[LAUNCH_VARIABLES - 2]);
	assert_null(launch_envp[LAUNCH_VARIABLES]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(
			only_variables_for_the_recorder_are_passed, prepare),
		cmocka_unit_test_setup(variables_are_copied, prepare),
		cmocka_unit_test_setup(no_environment, prepare),
		cmocka_unit_test_setup(dormant_flag_comes_first, prepare),
		cmocka_unit_test_setup(path_of_the_recorder, prepare),
		cmocka_unit_test_setup(too_long_path_is_refused, prepare),
		cmocka_unit_test_setup(variables_beyond_the_bytes_are_omitted,
				       prepare),
		cmocka_unit_test_setup(variables_beyond_the_number_are_omitted,
				       prepare),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
