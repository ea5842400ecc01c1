/* test_group_probe.c: whom a signal was sent to, also where the machine lets
 * the probe wait. */
// FLAGS: -Wl,--wrap=sigtimedwait
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/run/group_probe.h"

#define SLOW_S 3	/* longer than is waited before the probe is looked at */

int __real_sigtimedwait(const sigset_t *set, siginfo_t *info,
			const struct timespec *time);
int __wrap_sigtimedwait(const sigset_t *set, siginfo_t *info,
			const struct timespec *time);

static _Atomic bool *slow;	/* shared with the probe */
static pid_t command;

int __wrap_sigtimedwait(const sigset_t *set, siginfo_t *info,
			const struct timespec *time)
{
	if (getpid() != command && atomic_load(slow))
		sleep(SLOW_S);
	return __real_sigtimedwait(set, info, time);
}

static int begin(void **state)
{
	(void)state;
	atomic_store(slow, false);
	probe_start();
	return probe_pid() == 0;
}

static int end(void **state)
{
	(void)state;
	probe_end();
	return 0;
}

/* Somebody else sends it: what the command sends itself is no question. */
static enum probe_answer answer_to(pid_t receivers, int number)
{
	pid_t sender = fork();
	int status;
	sigset_t one;

	if (sender == 0)
		_exit(kill(receivers, number) != 0);
	assert_int_equal(waitpid(sender, &status, 0), sender);
	assert_int_equal(status, 0);
	sigemptyset(&one);
	sigaddset(&one, number);
	assert_int_equal(sigwaitinfo(&one, NULL), number);
	return probe_take(number);
}

static void alone_and_group(void **state)
{
	(void)state;
	for (int i = 0; i < 20; i++) {
		assert_int_equal(answer_to(getpid(), SIGUSR1), PROBE_ALONE);
		assert_int_equal(answer_to(0, SIGUSR1), PROBE_GROUP);
		assert_int_equal(answer_to(0, SIGCONT), PROBE_GROUP);
		assert_int_equal(answer_to(getpid(), SIGCONT), PROBE_ALONE);
	}
}

static void a_slow_probe_is_waited_for(void **state)
{
	(void)state;
	atomic_store(slow, true);
	assert_int_equal(answer_to(0, SIGUSR1), PROBE_GROUP);
	assert_int_equal(answer_to(getpid(), SIGUSR1), PROBE_ALONE);
}

static void one_that_cannot_answer_is_not(void **state)
{
	int status;

	(void)state;
	assert_int_equal(kill(probe_pid(), SIGSTOP), 0);
	assert_int_equal(waitpid(probe_pid(), &status, WUNTRACED),
			 probe_pid());
	assert_true(WIFSTOPPED(status));
	assert_int_equal(answer_to(0, SIGUSR1), PROBE_UNKNOWN);
	assert_int_equal(probe_pid(), 0);
	assert_int_equal(answer_to(0, SIGUSR1), PROBE_UNKNOWN);
}

static void nor_is_one_that_is_gone(void **state)
{
	(void)state;
	assert_int_equal(kill(probe_pid(), SIGKILL), 0);
	assert_int_equal(answer_to(0, SIGUSR1), PROBE_UNKNOWN);
	assert_int_equal(probe_pid(), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(alone_and_group, begin, end),
		cmocka_unit_test_setup_teardown(a_slow_probe_is_waited_for,
						begin, end),
		cmocka_unit_test_setup_teardown(one_that_cannot_answer_is_not,
						begin, end),
		cmocka_unit_test_setup_teardown(nor_is_one_that_is_gone, begin,
						end),
	};
	sigset_t all;

	/* a group, and signals, as `gnomon run` has them */
	setpgid(0, 0);
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	command = getpid();
	slow = mmap(NULL, sizeof(*slow), PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	return slow == MAP_FAILED ? 1 :
		cmocka_run_group_tests(tests, NULL, NULL);
}
