/* test_target.c: a process that lives, has lost its first thread, goes on to
 * another program, and is dead. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/recorder/base/proc_stat.h"
#include "cli/recorder/process/target.h"
#include "cli/recorder/process/target_file.h"
#include "preload/base/sys.h"

static struct gl_header live;
static struct gl_shared shared;
static struct gl_ring rings[2];
static struct recording r;
static struct target target;
static int pid;

/* What it would have opened itself, but for that its memory map is unknown if
 * `maps` is not wanted. */
static void watch(bool maps)
{
	int32_t file[GL_FILES] = { -1, -1, -1, -1, -1, -1 };
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	if (maps)
		file[GL_FILE_MAPS_WHOLE] = open(path, O_RDONLY);
	file[GL_FILE_PIDFD] = syscall(SYS_pidfd_open, pid, 0);
	target_file_init(file, pid);
	memset(&live, 0, sizeof(live));
	memset(&shared, 0, sizeof(shared));
	r = (struct recording){ .pid = pid, .live = &live, .shared = &shared,
				.rings = rings };
	memset(&target, 0, sizeof(target));
	target.r = &r;
	target_watch(&target);
	assert_int_equal(target.pidfd, file[GL_FILE_PIDFD]);
}

static void unwatch(void)
{
	close(target.pidfd);
	close(target_file(GL_FILE_MAPS_WHOLE));
	waitpid(pid, NULL, 0);
}

static void end(int number)
{
	kill(pid, number);
	assert_int_equal(waitid(P_PID, pid, &(siginfo_t){ 0 },
				WEXITED | WNOWAIT), 0);
}

static void other(void)
{
	pid = fork();
	if (pid == 0)
		for (;;)
			pause();
	assert_true(pid > 0);
}

static void one_that_lives(void **state)
{
	uint64_t start = 0;

	(void)state;
	other();
	watch(true);
	assert_true(target_same(&target));
	assert_false(target_dead(&target));
	assert_int_equal(target_task(&target), pid);
	assert_true(proc_stat(pid, PROC_STAT_STARTTIME, &start));
	r.start_time = start;
	end(SIGKILL);
	assert_true(target_dead(&target));
	/* a zombie has no memory: that is no exec */
	assert_true(target_same(&target));
	assert_int_equal(target_exit_code(&target), SIGKILL);
	waitpid(pid, NULL, 0);
	assert_true(target_dead(&target));
	assert_true(target_same(&target));
	unwatch();
}

static void how_it_ended(void **state)
{
	uint64_t start = 0;
	int code;

	(void)state;
	pid = fork();
	if (pid == 0)
		_exit(3);
	assert_int_equal(waitid(P_PID, pid, &(siginfo_t){ 0 },
				WEXITED | WNOWAIT), 0);
	watch(false);
	/* another one that has its number */
	assert_true(proc_stat(pid, PROC_STAT_STARTTIME, &start));
	r.start_time = start + 1;
	code = target_exit_code(&target);
	assert_true(code == -1 || code == 3 << 8);
	r.start_time = start;
	assert_int_equal(target_exit_code(&target), 3 << 8);
	waitpid(pid, NULL, 0);
	/* the kernel may remember */
	code = target_exit_code(&target);
	assert_true(code == -1 || code == 3 << 8);
	close(target.pidfd);
	target.pidfd = -1;
	assert_int_equal(target_exit_code(&target), -1);
	assert_true(target_dead(&target));
}

/* A pipe that nobody has open any more when a new program runs. */
static void goes_on_to_another_program(void **state)
{
	int go[2], gone[2];
	char byte = 0;

	(void)state;
	assert_int_equal(pipe(go) | pipe2(gone, O_CLOEXEC), 0);
	pid = fork();
	if (pid == 0) {
		if (read(go[0], &byte, 1) == 1)
			execlp("sleep", "sleep", "100", NULL);
		_exit(127);
	}
	close(gone[1]);
	watch(true);
	assert_true(target_same(&target));
	assert_int_equal(write(go[1], "", 1), 1);
	assert_int_equal(read(gone[0], &byte, 1), 0);
	assert_false(target_same(&target));
	assert_false(target_dead(&target));
	end(SIGKILL);
	assert_true(target_dead(&target));
	unwatch();
	close(go[0]);
	close(go[1]);
	close(gone[0]);
}

/* Nothing is mounted at /proc: then hooks of exec say so, of calls that do not
 * come back. */
static void by_its_hooks(void **state)
{
	(void)state;
	other();
	watch(false);
	assert_true(target_same(&target));
	shared.execs = 1;
	assert_true(target_same(&target));
	assert_true(target.exec_ns != 0);
	shared.execs = 0;	/* it failed */
	assert_true(target_same(&target));
	assert_int_equal(target.exec_ns, 0);
	shared.execs = 1;
	target.exec_ns = sys_now_ns() - SYS_NS;
	assert_false(target_same(&target));
	close(target.pidfd);
	target.pidfd = -1;	/* kernels before 5.3 */
	assert_false(target_dead(&target));
	end(SIGKILL);
	assert_true(target_dead(&target));
	unwatch();
	assert_true(target_dead(&target));
}

static void *outlive(void *reported)
{
	int tid = gettid();

	if (write(*(int *)reported, &tid, sizeof(tid)) == sizeof(tid))
		for (;;)
			pause();
	return NULL;
}

static bool is_zombie(void)
{
	uint64_t process = 0;

	return proc_stat(pid, PROC_STAT_STATE, &process) && process == 'Z';
}

static void a_first_thread_may_end(void **state)
{
	int tell[2], tid;
	pthread_t thread;

	(void)state;
	assert_int_equal(pipe(tell), 0);
	pid = fork();
	if (pid == 0) {
		pthread_create(&thread, NULL, outlive, &tell[1]);
		pthread_exit(NULL);
	}
	/* as the process itself opens it, before that */
	watch(true);
	assert_int_equal(read(tell[0], &tid, sizeof(tid)), sizeof(tid));
	while (!is_zombie())
		sched_yield();
	assert_true(target_same(&target));
	assert_false(target_dead(&target));
	/* who lives is known by its ring */
	assert_int_equal(target_task(&target), pid);
	rings[0] = (struct gl_ring){ .state = GL_RING_ACTIVE, .tid = pid };
	rings[1] = (struct gl_ring){ .state = GL_RING_ACTIVE, .tid = tid };
	r.ring_count = 2;
	assert_int_equal(target_task(&target), tid);
	rings[1].tid = 1 << 30;
	assert_int_equal(target_task(&target), pid);
	close(target.pidfd);
	target.pidfd = -1;
	assert_false(target_dead(&target));
	end(SIGKILL);
	assert_true(target_dead(&target));
	unwatch();
	close(tell[0]);
	close(tell[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_that_lives),
		cmocka_unit_test(how_it_ended),
		cmocka_unit_test(goes_on_to_another_program),
		cmocka_unit_test(by_its_hooks),
		cmocka_unit_test(a_first_thread_may_end),
	};

	alarm(20);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
