/* test_target.c: a process that lives, has lost its first thread, goes on to
 * another program, and is dead. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "preload/target.h"

#define STACK (256u << 10)

static struct gl_header live;

static void watch(struct target *target, struct recorder *r, int pid)
{
	memset(r, 0, sizeof(*r));
	memset(target, 0, sizeof(*target));
	r->pid = pid;
	r->live = &live;
	target->r = r;
	target_watch(target);
}

/* What shares its memory with the process that is watched: itself. */
struct shared {
	int pid;
	bool by_sizes;
	bool gone_on, dead;
};

/* In a task as the writer is one: no TLS of its own, few calls. */
static int look(void *arg)
{
	struct shared *shared = arg;
	struct target target;
	static struct recorder r;

	watch(&target, &r, shared->pid);
	if (shared->by_sizes)
		target.kcmp = false;
	shared->gone_on = !target_same(&target);
	shared->dead = target_dead(&target);
	syscall(SYS_exit, 0);
	return 0;
}

static void look_by_task(struct shared *shared)
{
	char *stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int pid = clone(look, stack + STACK, CLONE_VM | CLONE_VFORK, shared);

	waitpid(pid, NULL, __WALL);
	munmap(stack, STACK);
}

static void itself_is_the_same(void **state)
{
	(void)state;
	for (int by_sizes = 0; by_sizes < 2; by_sizes++) {
		struct shared shared = { getpid(), by_sizes, true, true };

		look_by_task(&shared);
		assert_false(shared.gone_on);
		assert_false(shared.dead);
	}
}

/* A process that pauses, in other memory than ours. */
static int other(void)
{
	int pid = fork();

	if (pid == 0)
		for (;;)
			pause();
	assert_true(pid > 0);
	return pid;
}

static void other_memory_is_another_program(void **state)
{
	struct target target;
	struct recorder r;
	char *volatile more = malloc(10 << 20);
	int pid = other();

	(void)state;
	free(more);	/* now the two differ in size */
	watch(&target, &r, pid);
	target.kcmp = true;	/* of the same memory it would have been seen */
	assert_false(target_same(&target));
	target.kcmp = false;
	assert_false(target_same(&target));
	assert_false(target_dead(&target));
	kill(pid, SIGKILL);
	waitid(P_PID, pid, &(siginfo_t){ 0 }, WEXITED | WNOWAIT);
	assert_true(target_dead(&target));
	/* a zombie has no memory: that is no exec */
	assert_true(target_same(&target));
	target.kcmp = true;
	assert_true(target_same(&target));
	waitpid(pid, NULL, 0);
	assert_true(target_dead(&target));
	close(target.pidfd);
}

static void *outlive(void *arg)
{
	(void)arg;
	for (;;)
		pause();
	return NULL;
}

static void a_first_thread_may_end(void **state)
{
	struct target target;
	struct recorder r;
	pthread_t thread;
	int pid = fork();

	(void)state;
	if (pid == 0) {
		pthread_create(&thread, NULL, outlive, NULL);
		pthread_exit(NULL);
	}
	watch(&target, &r, pid);
	target.kcmp = true;
	/* until it has ended */
	while (!target_same(&target))
		sched_yield();
	assert_false(target_dead(&target));
	close(target.pidfd);
	target.pidfd = -1;
	assert_false(target_dead(&target));
	kill(pid, SIGKILL);
	waitid(P_PID, pid, &(siginfo_t){ 0 }, WEXITED | WNOWAIT);
	assert_true(target_dead(&target));
	waitpid(pid, NULL, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(itself_is_the_same),
		cmocka_unit_test(other_memory_is_another_program),
		cmocka_unit_test(a_first_thread_may_end),
	};

	alarm(20);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
