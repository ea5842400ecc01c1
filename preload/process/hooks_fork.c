/*
 * hooks_fork.c: hooks of fork, _Fork and fork by syscall(). Each calls the real
 * function with its own arguments; result and errno are the real function's. A
 * fork by an instruction of the program itself is noticed only by the wiped
 * area.
 *
 * Called by the program from anywhere, also in signal handlers.
 */
#include "preload/process/hooks_fork.h"

#include <sys/types.h>
#include <unistd.h>

#include "preload/hooks/hooks.h"
#include "preload/interpose/identity.h"
#include "preload/process/parent.h"
#include "preload/ring/forbidden.h"
#include "preload/ring/fork_copy.h"

pid_t _Fork(void);

static void hooks_fork_end(struct fork_copy *copy, long child)
{
	if (child)
		fork_copy_drop(copy);
	else
		fork_copy_place(copy);
}

static pid_t hooks_fork_by(void *real_fork, uintptr_t sp)
{
	struct fork_copy copy;
	pid_t child;

	if (!real_fork)
		return identity_missing();
	forbidden_take_over();
	parent_forks();
	fork_copy_take(&copy, sp);
	child = ((pid_t (*)(void))real_fork)();
	hooks_fork_end(&copy, child);
	return child;
}

HOOK pid_t fork(void)
{
	return hooks_fork_by(real_of(REAL_fork),
			     (uintptr_t)__builtin_dwarf_cfa());
}

/* For a C library without _Fork: its fork does the same, and also runs
 * pthread_atfork handlers. */
HOOK pid_t _Fork(void)
{
	void *real_fork = real_of(REAL__Fork);

	return hooks_fork_by(real_fork ? real_fork : real_of(REAL_fork),
			     (uintptr_t)__builtin_dwarf_cfa());
}

long hooks_fork_syscall(hooks_fork_call *real_syscall, long number,
			const long *arg, uintptr_t sp)
{
	struct fork_copy copy;
	long child;

	forbidden_take_over();
	fork_copy_take(&copy, sp);
	child = real_syscall(number, arg[0], arg[1], arg[2], arg[3], arg[4],
			     arg[5]);
	hooks_fork_end(&copy, child);
	return child;
}
