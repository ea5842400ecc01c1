/* test_output.c: names of traces, and never overwriting one. */
// FLAGS: -Wl,--wrap=flock
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli/recorder/output/output.h"

static char directory[] = "/tmp/gnomon-test-output.XXXXXX";

static struct output_names names(const char *pattern)
{
	struct output_names n = { .pattern = pattern, .pid = 42,
				  .unix_seconds = 1234567890,
				  .program = "prog", .host = "box" };

	return n;
}

static void patterns_expand(void **state)
{
	static const struct {
		const char *pattern, *name;
	} right[] = {
		{ "gnomon.%e.%p.trace", "gnomon.prog.42.trace" },
		{ "%t-%h-%n", "1234567890-box-7" }, { "100%%", "100%" },
		{ "%x%", "%x%" }, { "plain", "plain" },
	};
	char to[64];
	unsigned i;

	(void)state;
	for (i = 0; i < sizeof(right) / sizeof(*right); i++) {
		struct output_names n = names(right[i].pattern);

		assert_true(output_expand(&n, 7, to, sizeof(to)));
		assert_string_equal(to, right[i].name);
	}
	{
		struct output_names n = names("%p%p%p%p");

		assert_false(output_expand(&n, 0, to, 8));
	}
}

/* Of a process that begins now: what is there is of earlier runs. */
static uint64_t began_ns = UINT64_MAX;

static void opened(const char *pattern, bool child, bool force,
		   const char *base)
{
	struct output_names n = names(pattern);
	struct output out;
	struct stat st;

	n.child = child;
	n.force = force;
	n.start_ns = began_ns;
	assert_int_equal(output_open(&out, &n), 0);
	assert_string_equal(strrchr(out.path, '/') + 1, base);
	assert_int_equal(out.path[0], '/');
	assert_int_equal(fstat(out.fd, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_int_equal(write(out.fd, "x", 1), 1);
	close(out.fd);
}

/* Calls of flock that fail, as if a reader had the lock. */
static unsigned lock_failures;

int __real_flock(int fd, int operation);
int __wrap_flock(int fd, int operation);

int __wrap_flock(int fd, int operation)
{
	if (!lock_failures)
		return __real_flock(fd, operation);
	lock_failures--;
	errno = EWOULDBLOCK;
	return -1;
}

static void locked_beside_a_reader(void **state)
{
	struct output_names n = names("watched.trace");
	struct output out;
	int other;

	(void)state;
	lock_failures = 3;
	assert_int_equal(output_open(&out, &n), 0);
	other = open("watched.trace", O_RDONLY);
	assert_true(other >= 0);
	assert_int_equal(__real_flock(other, LOCK_SH | LOCK_NB), -1);
	close(other);
	close(out.fd);
	/* not for ever */
	lock_failures = 1000;
	n = names("never.trace");
	assert_int_equal(output_open(&out, &n), 0);
	assert_true(lock_failures > 900);
	lock_failures = 0;
	close(out.fd);
	unlink("watched.trace");
	unlink("never.trace");
}

static void nothing_is_overwritten(void **state)
{
	struct stat st;

	(void)state;
	opened("a.trace", false, false, "a.trace");
	opened("a.trace", false, false, "a.trace.1");
	opened("a.trace", false, false, "a.trace.2");
	opened("a.trace", true, false, "a.trace.42");
	opened("a.trace", false, true, "a.trace");
	assert_int_equal(stat("a.trace", &st), 0);
	assert_int_equal(st.st_size, 1);
	opened("b%n", false, false, "b0");
	opened("b%n", false, false, "b1");
	opened("c.%p", true, false, "c.42");
	opened("c.%p", true, false, "c.42.1");
}

/* Not even by force: what another program of this run has written. */
static void traces_of_this_run_are_kept(void **state)
{
	struct timespec now;

	(void)state;
	clock_gettime(CLOCK_REALTIME, &now);
	began_ns = (now.tv_sec - 1) * UINT64_C(1000000000);
	opened("run", false, true, "run");
	opened("run", false, true, "run.1");
	opened("run", true, true, "run.42");
	opened("run", true, true, "run.42.1");
	began_ns = UINT64_MAX;
	opened("run", false, true, "run");
	opened("run", true, true, "run.42");
}

static void one_being_written_is_left_alone(void **state)
{
	struct output_names n = names("locked");
	struct output out;

	(void)state;
	assert_int_equal(output_open(&out, &n), 0);
	opened("locked", false, true, "locked.42");
	close(out.fd);
}

static void links_are_not_followed(void **state)
{
	struct stat st;

	(void)state;
	assert_int_equal(symlink("victim", "link"), 0);
	opened("link", false, true, "link.1");
	assert_int_equal(stat("victim", &st), -1);
}

static void pipes_are_used_as_they_are(void **state)
{
	struct output_names n = names("fifo");
	struct output out;
	int reader;

	(void)state;
	assert_int_equal(mkfifo("fifo", 0600), 0);
	reader = open("fifo", O_RDONLY | O_NONBLOCK);
	assert_int_equal(output_open(&out, &n), 0);
	assert_false(out.regular);
	close(out.fd);
	close(reader);
}

static void a_pipe_that_nobody_reads(void **state)
{
	struct output_names n = names("lonely");
	struct timespec from, to;
	struct output out;

	(void)state;
	assert_int_equal(mkfifo("lonely", 0600), 0);
	clock_gettime(CLOCK_MONOTONIC, &from);
	assert_int_equal(output_open(&out, &n), -ENXIO);
	clock_gettime(CLOCK_MONOTONIC, &to);
	assert_true(to.tv_sec - from.tv_sec <= 1);
	assert_non_null(strstr(out.message, "nobody reads lonely"));
}

static void a_device_serves_everybody(void **state)
{
	struct output_names n = names("/dev/null");
	struct output out;

	(void)state;
	n.child = true;
	assert_int_equal(output_open(&out, &n), 0);
	assert_string_equal(out.path, "/dev/null");
	close(out.fd);
}

static void elsewhere_if_not_writable(void **state)
{
	struct output_names n = names("/nonexistent/x.%p");
	char tmp[128], *env[] = { "XDG_STATE_HOME=/proc", tmp, NULL };
	struct output out;

	(void)state;
	snprintf(tmp, sizeof(tmp), "TMPDIR=%s", directory);
	output_environment(env);
	assert_int_equal(output_open(&out, &n), 0);
	assert_int_equal(strncmp(out.path, directory, strlen(directory)), 0);
	assert_non_null(strstr(out.message, "/nonexistent/x.42"));
	assert_non_null(strstr(out.message, out.path));
	close(out.fd);
	env[1] = "TMPDIR=/proc";
	output_environment(env);
	assert_int_equal(output_open(&out, &n), -ENOENT);
	assert_non_null(strstr(out.message, "not recorded"));
}

static int enter(void **state)
{
	(void)state;
	return !mkdtemp(directory) || chdir(directory);
}

static int leave(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", directory);
	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(patterns_expand),
		cmocka_unit_test(nothing_is_overwritten),
		cmocka_unit_test(locked_beside_a_reader),
		cmocka_unit_test(traces_of_this_run_are_kept),
		cmocka_unit_test(one_being_written_is_left_alone),
		cmocka_unit_test(links_are_not_followed),
		cmocka_unit_test(pipes_are_used_as_they_are),
		cmocka_unit_test(a_pipe_that_nobody_reads),
		cmocka_unit_test(a_device_serves_everybody),
		cmocka_unit_test(elsewhere_if_not_writable),
	};

	return cmocka_run_group_tests(tests, enter, leave);
}
