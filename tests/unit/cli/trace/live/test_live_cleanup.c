/* test_live_cleanup.c: which live files are removed, and which are not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "cli/base/mount_view.h"
#include "cli/run/run_end.h"
#include "cli/trace/format/trace_format.h"
#include "cli/trace/live/live_cleanup.h"
#include "tests/unit/trace_write.h"

#define NOBODY 0x7ffffff0

static char directory[] = "/tmp/gnomon-test-sweep.XXXXXX";

static const char *in_directory(const char *name)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	return path;
}

static uint64_t view;		/* of those who see the traces */

/* The descriptor stays open: for a lock. */
static int make_live(const char *name, pid_t pid, const char *trace)
{
	static struct gl_header header;
	int fd = open(in_directory(name), O_RDWR | O_CREAT | O_EXCL, 0600);

	memset(&header, 0, sizeof(header));
	header.magic = GL_MAGIC;
	header.version = GL_VERSION;
	header.trace_id = TRACE_WRITE_ID;
	header.pid = pid;
	header.start_time = run_end_start_time(pid);
	strcpy(header.trace_path, trace);
	header.view = view;
	assert_int_equal(write(fd, &header, sizeof(header)), sizeof(header));
	return fd;
}

/* Whether it was there; it is not afterwards. */
static bool take(const char *name)
{
	return unlink(in_directory(name)) == 0;
}

static void only_what_nobody_needs(void **state)
{
	static const char name[] = "gnomon-1-0.live", gone[] = "/none.trace";
	char trace[128];
	struct trace_write t;
	int fd;

	(void)state;
	close(make_live(name, NOBODY, gone));
	live_cleanup_files(directory, directory);
	assert_false(take(name));
	/* the program lives */
	close(make_live(name, getpid(), gone));
	live_cleanup_files(directory, directory);
	assert_true(take(name));
	/* the recorder lives */
	fd = make_live(name, NOBODY, gone);
	assert_int_equal(flock(fd, LOCK_EX), 0);
	live_cleanup_files(directory, directory);
	assert_true(take(name));
	close(fd);
	/* of others' file systems, or nobody knows whose */
	for (int i = 0; i < 2; i++) {
		view = i == 0 ? mount_view() ^ 1 : 0;
		close(make_live(name, NOBODY, gone));
		view = mount_view();
		live_cleanup_files(directory, directory);
		assert_true(take(name));
	}
	/* not of a recorder */
	close(make_live("other.live", NOBODY, gone));
	live_cleanup_files(directory, directory);
	assert_true(take("other.live"));
	fd = make_live(name, NOBODY, gone);
	assert_int_equal(ftruncate(fd, 100), 0);
	close(fd);
	live_cleanup_files(directory, directory);
	assert_true(take(name));
	/* the trace is there; another one is */
	trace_write_begin(&t);
	strcpy(trace, "/tmp/gnomon-unit-XXXXXX");
	trace_write_file(&t, trace);
	close(make_live(name, NOBODY, trace));
	live_cleanup_files(directory, directory);
	assert_true(take(name));
	fd = make_live(name, NOBODY, trace);
	assert_int_equal(pwrite(fd, "x", 1,
				offsetof(struct gl_header, trace_id)), 1);
	close(fd);
	live_cleanup_files(directory, directory);
	assert_false(take(name));
	/* a pipe */
	unlink(trace);
	assert_int_equal(mkfifo(trace, 0600), 0);
	close(make_live(name, NOBODY, trace));
	live_cleanup_files(directory, directory);
	assert_true(take(name));
	unlink(trace);
	buffer_free(&t.bytes);
}

/* One that has no trace yet. The descriptor stays open. */
static int make_header(const char *name, const struct gl_header *header)
{
	int fd = make_live(name, NOBODY, "");

	assert_int_equal(pwrite(fd, header, sizeof(*header), 0),
			 sizeof(*header));
	return fd;
}

/* Its lock says whether somebody is there. */
static void what_has_never_begun(void **state)
{
	static const char name[] = "gnomon-1-0.live";
	static const struct gl_header unmade;
	static const struct gl_header unbegun = {
		.version = GL_VERSION, .header_size = sizeof(unbegun)
	};
	int fd;

	(void)state;
	close(make_header(name, &unbegun));
	live_cleanup_files(directory, directory);
	assert_false(take(name));
	fd = make_header(name, &unbegun);
	assert_int_equal(flock(fd, LOCK_EX), 0);
	live_cleanup_files(directory, directory);
	assert_true(take(name));
	close(fd);
	/* it was not locked yet */
	close(make_header(name, &unmade));
	live_cleanup_files(directory, directory);
	assert_true(take(name));
}

/* Of a trace that has been renamed, which nobody can find among so many. */
static void not_every_name_was_looked_at(void **state)
{
	static const char name[] = "gnomon-1-0.live";
	char trace[128];

	(void)state;
	for (int i = 0; i < 1100; i++) {
		snprintf(trace, sizeof(trace), "%d.trace", i);
		close(open(in_directory(trace), O_CREAT | O_WRONLY, 0600));
	}
	strcpy(trace, in_directory("none.trace"));
	close(make_live(name, NOBODY, trace));
	live_cleanup_files(directory, directory);
	assert_true(take(name));
	for (int i = 0; i < 1100; i++) {
		snprintf(trace, sizeof(trace), "%d.trace", i);
		assert_true(take(trace));
	}
}

static int enter(void **state)
{
	(void)state;
	view = mount_view();
	return mkdtemp(directory) == NULL;
}

static int leave(void **state)
{
	(void)state;
	return rmdir(directory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_what_nobody_needs),
		cmocka_unit_test(what_has_never_begun),
		cmocka_unit_test(not_every_name_was_looked_at),
	};

	return cmocka_run_group_tests(tests, enter, leave);
}
