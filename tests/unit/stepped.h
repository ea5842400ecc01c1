/*
 * stepped.h: what happens where something interrupts a function, at each of
 * its instructions: a signal handler, or as good as that, all that another
 * thread does. The function runs in a child process, again and again, and is
 * stepped through by this one (ptrace), each time one instruction further.
 */
#ifndef TEST_STEPPED_H
#define TEST_STEPPED_H

#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

struct stepped {
	void (*before)(void);
	void (*action)(void);
	void (*interrupt)(void);	/* in a handler, somewhere in `action` */
	bool (*right)(void);		/* whether all is as it has to be */
};

/* What the child says at its end. */
enum { STEPPED_RIGHT, STEPPED_WRONG, STEPPED_ERROR };

static const struct stepped *stepped_case;
static volatile sig_atomic_t stepped_over, stepped_through;

static void stepped_handler(int number)
{
	(void)number;
	if (stepped_over)
		stepped_through = 1;
	else
		stepped_case->interrupt();
}

/* No function of the C library between a stop and the action. */
static void stepped_child(void)
{
	struct sigaction action = { .sa_handler = stepped_handler };

	if (sigaction(SIGUSR1, &action, NULL) ||
	    ptrace(PTRACE_TRACEME, 0, NULL, NULL))
		_exit(STEPPED_ERROR);
	while (!stepped_through) {
		stepped_over = 0;
		stepped_case->before();
		kill(getpid(), SIGSTOP);
		stepped_case->action();
		stepped_over = 1;
		if (!stepped_through && !stepped_case->right())
			_exit(STEPPED_WRONG);
	}
	_exit(STEPPED_RIGHT);
}

static bool stepped_some(pid_t child, unsigned steps)
{
	int status;

	while (steps--)
		if (ptrace(PTRACE_SINGLESTEP, child, NULL, NULL) ||
		    waitpid(child, &status, 0) != child ||
		    !WIFSTOPPED(status) || WSTOPSIG(status) != SIGTRAP)
			return false;
	return true;
}

/*
 * How many instructions it was, with some of the way there. 0: something was
 * wrong after *at of them; -1: no process may be traced here.
 */
static int stepped_each(const struct stepped *each, unsigned *at)
{
	int status;
	pid_t child;

	stepped_case = each;
	*at = 0;
	child = fork();
	if (child == 0)
		stepped_child();
	while (waitpid(child, &status, 0) == child && WIFSTOPPED(status)) {
		long signal_number = WSTOPSIG(status);

		if (signal_number == SIGSTOP) {
			signal_number = stepped_some(child, (*at)++) ?
						SIGUSR1 : SIGKILL;
		}
		ptrace(PTRACE_CONT, child, NULL, signal_number);
	}
	if (!WIFEXITED(status))
		return 0;
	if (WEXITSTATUS(status) == STEPPED_ERROR)
		return -1;
	return WEXITSTATUS(status) == STEPPED_RIGHT ? (int)*at : 0;
}

#endif
