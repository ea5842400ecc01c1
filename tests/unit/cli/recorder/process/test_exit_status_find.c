/*
 * test_exit_status_find.c: what a parent is told of how its children ended, and
 * what their recorders find of it in its live file, which may be anything.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "preload/ring/area.h"
#include "preload/ring/exit_slot.h"
#include "preload/process/exit_status.h"
#include "cli/recorder/process/exit_status_find.h"
#include "cli/recorder/process/parent_live.h"
#include "preload/ring/producer.h"

#define SHARED ((sizeof(struct gl_header) + GL_PAGE - 1) / GL_PAGE * GL_PAGE)
#define SIZE (SHARED + sizeof(struct gl_shared))

static struct gl_header *live;
static struct recording child;
static char live_path[64];
static struct gl_shared childs;
static struct gl_at_start at_start;

/* This process is the child, its parent the one whose hooks are called. */
static int each(void **state)
{
	int fd;

	(void)state;
	memset(&child, 0, sizeof(child));
	memset(&at_start, 0, sizeof(at_start));
	child.at_start = &at_start;
	memset(&childs, 0, sizeof(childs));
	child.parent_trace = "";
	strcpy(live_path, "/tmp/gnomon-unit-told-XXXXXX");
	fd = mkstemp(live_path);
	if (fd < 0 || ftruncate(fd, SIZE))
		return -1;
	live = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	child.from_parent.fd = fd;
	live->magic = GL_MAGIC;
	live->version = GL_VERSION;
	live->header_size = sizeof(*live);
	live->shared_offset = SHARED;
	live->pid = getppid();
	memset(producer, 0, sizeof(*producer));
	producer->pid = getppid();
	producer->shared = (struct gl_shared *)((char *)live + SHARED);
	producer->shared->recorder_state = GL_RECORDER_READY;
	child.pid = getpid();
	child.parent = getppid();
	child.forked = true;
	child.shared = &childs;
	childs.exits = EXIT_STATUS_GIVEN | 3;	/* nobody is waited for */
	exit_status_start(child.pid);	/* of the case before */
	return 0;
}

static int done(void **state)
{
	(void)state;
	unlink(live_path);
	munmap(live, SIZE);
	if (child.from_parent.fd >= 0)
		close(child.from_parent.fd);
	return 0;
}

static void what_the_parent_says_goes_first(void **state)
{
	(void)state;
	exit_status_begin(&child);
	assert_int_equal(child.parent, getppid());
	assert_true(child.from_parent.fd >= 0);
	assert_int_equal(exit_status_find(&child), 3 << 8);
	exit_status_reaped(child.pid, 9);
	assert_int_equal(exit_status_find(&child), 9);
	/* also when its recorder has gone, and its file */
	unlink(live_path);
	exit_status_reaped(child.pid, 11);
	assert_int_equal(exit_status_find(&child), 11);
}

/* Of an older one with the same number, which may have ended the same way. */
static void what_stood_there_before_does_not_count(void **state)
{
	(void)state;
	exit_status_reaped(child.pid, 9);
	/* the child is forked, and finds it in its copy */
	child.from_parent.exit_count = exit_status_start(child.pid);
	exit_status_begin(&child);
	assert_int_equal(exit_status_find(&child), 3 << 8);
	exit_status_reaped(child.pid, 9);
	assert_int_equal(exit_status_find(&child), 9);
	/* another one has its place now */
	exit_status_reaped(child.pid + GL_EXITS, 9);
	assert_int_equal(exit_status_find(&child), 3 << 8);
}

static void it_has_to_be_the_parents_file(void **state)
{
	(void)state;
	live->pid = getppid() + 1;
	exit_status_begin(&child);
	assert_true(child.from_parent.fd >= 0);
	exit_status_reaped(child.pid, 9);
	assert_int_equal(exit_status_find(&child), 3 << 8);
}

static void refused(void)
{
	int fd = child.from_parent.fd;

	child.from_parent.fd = dup(fd);
	parent_live_begin(&child);
	assert_int_equal(child.from_parent.fd, -1);
	child.from_parent.fd = fd;
}

static void other_files_are_refused(void **state)
{
	uint64_t word;

	(void)state;
	live->magic++;
	refused();
	live->magic--;
	live->version++;
	refused();
	live->version--;
	live->header_size = 8;
	refused();
	live->header_size = sizeof(*live);
	live->shared_offset = UINT64_MAX - 4096;
	refused();
	live->shared_offset = SHARED;
	/* its recorder has yet to begin */
	live->magic = 0;
	parent_live_begin(&child);
	assert_true(child.from_parent.fd >= 0);
	live->magic = GL_MAGIC;
	/* it may be cut at any time */
	assert_int_equal(truncate(live_path, SHARED), 0);
	assert_false(parent_live_read(&child, 0, &word, sizeof(word)));
	refused();
}

static void signals_of_children_are_listed(void **state)
{
	struct recording parent = { .pid = getppid(),
				    .shared = producer->shared };
	unsigned at = 0;
	int pid, status;

	(void)state;
	child.from_parent.fd = -1;
	exit_status_reaped(100, 9);
	exit_status_reaped(101, 3 << 8);	/* could say so itself */
	exit_status_reaped(102, 0x137f);	/* only stopped */
	exit_status_reaped(1 << 22, 9);
	assert_true(exit_status_child(&parent, &at, &pid, &status));
	assert_int_equal(pid, 100);
	assert_int_equal(status, 9);
	assert_false(exit_status_child(&parent, &at, &pid, &status));
	/* a forked child that has nothing yet */
	producer->shared = NULL;
	exit_status_reaped(100, 9);
}

static void *opens_its_trace(void *unused)
{
	usleep(20000);
	strcpy(live->trace_path, "/there/it.trace");
	atomic_store(&producer->shared->recorder_state, GL_RECORDER_READY);
	return unused;
}

static void a_trace_that_is_yet_to_come_is_waited_for(void **state)
{
	pthread_t thread;

	(void)state;
	/* there is none, and none will come */
	parent_live_begin(&child);
	assert_string_equal(child.parent_trace, "");
	producer->shared->recorder_state = GL_RECORDER_STARTING;
	assert_int_equal(pthread_create(&thread, NULL, opens_its_trace, NULL),
			 0);
	parent_live_begin(&child);
	assert_string_equal(child.parent_trace, "/there/it.trace");
	pthread_join(thread, NULL);
	/* not for ever */
	live->trace_path[0] = '\0';
	child.parent_trace = "";
	producer->shared->recorder_state = GL_RECORDER_STARTING;
	parent_live_begin(&child);
	assert_string_equal(child.parent_trace, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_the_parent_says_goes_first,
						each, done),
		cmocka_unit_test_setup_teardown(
			what_stood_there_before_does_not_count, each, done),
		cmocka_unit_test_setup_teardown(it_has_to_be_the_parents_file,
						each, done),
		cmocka_unit_test_setup_teardown(other_files_are_refused, each,
						done),
		cmocka_unit_test_setup_teardown(
			a_trace_that_is_yet_to_come_is_waited_for, each, done),
		cmocka_unit_test_setup_teardown(signals_of_children_are_listed,
						each, done),
	};

	if (area_map(UINT64_C(16) << 20))
		return 77;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
