/* test_locate.c: which files are traces, which is the newest, whose it is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/trace/read/locate.h"
#include "tests/unit/trace_write.h"

#define NOBODY "2147483632"	/* a pid that no process has */

static char *directory, *before;

static void put_file(const char *name, const void *bytes, size_t size,
		     time_t written)
{
	struct timespec times[2] = { { written, 0 }, { written, 0 } };
	int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, size), size);
	assert_int_equal(futimens(fd, times), 0);
	close(fd);
}

static void put_trace(const char *name, const char *pid, time_t written)
{
	struct trace_write t;

	trace_write_begin(&t);
	trace_write_line(&t, GT_INFO, "pid", pid);
	put_file(name, t.bytes.data, t.bytes.size, written);
	buffer_free(&t.bytes);
}

static int begin(void **state)
{
	(void)state;
	before = getcwd(NULL, 0);
	directory = strdup("/tmp/gnomon-unit-locate-XXXXXX");
	assert_non_null(mkdtemp(directory));
	return chdir(directory);
}

static int end(void **state)
{
	static const char *const names[] = { "a", "b.trace", "c.trace", "d",
		"link", "pipe", "lost", "empty.trace" };

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		unlink(names[i]);
	assert_int_equal(chdir(before), 0);
	assert_int_equal(rmdir(directory), 0);
	free(directory);
	free(before);
	return 0;
}

static void newest_is(const char *wanted)
{
	char *found = locate_newest(".");

	if (wanted == NULL)
		assert_null(found);
	else
		assert_string_equal(found, wanted);
	free(found);
}

static void by_content_and_age(void **state)
{
	(void)state;
	newest_is(NULL);
	put_file("c.trace", "no trace at all", 15, 4000);
	put_file("empty.trace", "", 0, 5000);
	assert_int_equal(mkfifo("pipe", 0600), 0);
	assert_int_equal(symlink("nowhere", "lost"), 0);
	newest_is(NULL);
	put_trace("b.trace", NOBODY, 1000);
	put_trace("a", NOBODY, 2000);
	newest_is("a");
	put_trace("d", NOBODY, 2000);	/* counters in names go up */
	newest_is("d");
	put_trace("b.trace", NOBODY, 3000);
	newest_is("b.trace");
	assert_true(locate_is_trace("a"));
	assert_false(locate_is_trace("pipe"));
	assert_false(locate_is_trace("."));
	assert_false(locate_is_trace("lost"));
}

static void all_in_a_directory(void **state)
{
	static const char *const wanted[] = { "/a", "/b.trace", "/link" };
	char **paths;
	size_t count;
	bool more;

	(void)state;
	put_trace("b.trace", NOBODY, 1000);
	put_trace("a", NOBODY, 2000);
	put_file("c.trace", "no trace at all", 15, 4000);
	assert_int_equal(symlink("a", "link"), 0);
	assert_int_equal(locate_all(directory, &paths, &count, &more), 0);
	assert_int_equal(count, 3);
	assert_false(more);
	for (size_t i = 0; i < count; i++) {
		assert_string_equal(paths[i] + strlen(directory), wanted[i]);
		free(paths[i]);
	}
	free(paths);
	assert_int_equal(locate_all("nowhere", &paths, &count, &more),
			 -ENOENT);
	assert_int_equal(count, 0);
	assert_int_equal(locate_all("a", &paths, &count, &more), -ENOTDIR);
}

static void of_a_process(void **state)
{
	int error = 1;
	char *found;

	(void)state;
	put_trace("a", NOBODY, 1000);
	put_trace("b.trace", NOBODY, 2000);
	put_trace("d", "1", 3000);
	found = locate_process(atoi(NOBODY), &error);
	assert_string_equal(found, "b.trace");
	assert_int_equal(error, 0);
	free(found);
	assert_null(locate_process(atoi(NOBODY) - 1, &error));
	assert_int_equal(error, -ESRCH);
	/* There, and not recorded. */
	assert_null(locate_process(getpid(), &error));
	assert_int_equal(error, -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(by_content_and_age, begin,
						end),
		cmocka_unit_test_setup_teardown(all_in_a_directory, begin,
						end),
		cmocka_unit_test_setup_teardown(of_a_process, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
