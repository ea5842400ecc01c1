/*
 * test_output_file.c: what is there under the result's name stays until the
 * result is whole, then gives way to it; links, pipes and traces.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/base/terminal/log.h"
#include "cli/command/output_file.h"
#include "cli/trace/format/trace_format.h"

static char directory[] = "/tmp/gnomon-unit-output-XXXXXX";

static void put(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static void check_is(const char *path, const char *text)
{
	char there[64] = "";
	FILE *file = fopen(path, "r");

	assert_non_null(file);
	fread(there, 1, sizeof(there) - 1, file);
	fclose(file);
	assert_string_equal(there, text);
}

static mode_t mode_of(const char *path)
{
	struct stat status;

	assert_int_equal(lstat(path, &status), 0);
	return status.st_mode;
}

static void a_new_file(void **state)
{
	FILE *out = output_file_open("new");

	(void)state;
	assert_non_null(out);
	fputs("all", out);
	fflush(out);
	assert_int_equal(access("new", F_OK), -1);
	assert_int_equal(output_file_close(out, "new", EXIT_NO), EXIT_NO);
	check_is("new", "all");
	assert_int_equal(mode_of("new") & 07777, 0640);	/* by the umask */
}

static void an_old_one_gives_way(void **state)
{
	FILE *out;

	(void)state;
	put("old", "before");
	assert_int_equal(chmod("old", 0604), 0);
	out = output_file_open("old");
	fputs("half", out);
	fflush(out);
	check_is("old", "before");
	fclose(out);		/* something went wrong */
	check_is("old", "before");
	out = output_file_open("old");
	fputs("whole", out);
	assert_int_equal(output_file_close(out, "old", EXIT_COMPLETE), 0);
	check_is("old", "whole");
	assert_int_equal(mode_of("old") & 07777, 0604);
}

static void links_lead_to_the_file(void **state)
{
	FILE *out;

	(void)state;
	put("target", "before");
	assert_int_equal(symlink("target", "soft"), 0);
	assert_int_equal(link("target", "hard"), 0);
	out = output_file_open("soft");
	fputs("by soft", out);
	assert_int_equal(output_file_close(out, "soft", 0), 0);
	assert_true(S_ISLNK(mode_of("soft")));
	check_is("hard", "by soft");
	out = output_file_open("hard");
	fputs("by hard", out);
	assert_int_equal(output_file_close(out, "hard", 0), 0);
	check_is("target", "by hard");
}

static void what_is_no_file(void **state)
{
	FILE *out = output_file_open("/dev/null");

	(void)state;
	assert_non_null(out);
	fputs("gone", out);
	assert_int_equal(output_file_close(out, "/dev/null", 0), 0);
	out = output_file_open("/dev/full");
	fputs("no room", out);
	assert_int_equal(output_file_close(out, "/dev/full", 0),
			 EXIT_NOTHING);
	assert_null(output_file_open("none/there"));
	assert_null(output_file_open("."));
	assert_ptr_equal(output_file_open(NULL), stdout);
}

static void no_trace(void **state)
{
	(void)state;
	put("trace", GT_MAGIC "and so on");
	assert_null(output_file_open("trace"));
	check_is("trace", GT_MAGIC "and so on");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_new_file),
		cmocka_unit_test(an_old_one_gives_way),
		cmocka_unit_test(links_lead_to_the_file),
		cmocka_unit_test(what_is_no_file),
		cmocka_unit_test(no_trace),
	};
	int failed;

	if (mkdtemp(directory) == NULL || chdir(directory) != 0)
		return 1;
	umask(027);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	if (chdir("/") == 0 && fork() == 0)
		execlp("rm", "rm", "-r", directory, NULL);
	return failed;
}
