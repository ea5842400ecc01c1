/*
 * hooks_fork.c: fork and _Fork as the program enters them. Each calls the real
 * one as it was called itself; result and errno are its. A fork that is made
 * without them (by a raw system call) is noticed by the wiped area alone.
 *
 * Called by the program from anywhere, also in signal handlers.
 */
#include <sys/types.h>
#include <unistd.h>

#include "preload/fork_copy.h"
#include "preload/hooks.h"
#include "preload/life.h"

pid_t _Fork(void);

static inline __attribute__((always_inline)) pid_t
hooks_fork_by(void *real_fork, uintptr_t sp)
{
	struct fork_copy copy;
	pid_t child;

	if (!real_fork)
		return life_missing();
	fork_copy_take(&copy, sp);
	child = ((pid_t (*)(void))real_fork)();
	if (child)
		fork_copy_drop(&copy);
	else
		fork_copy_place(&copy);
	return child;
}

HOOK pid_t fork(void)
{
	return hooks_fork_by(life_real(LIFE_fork),
			     (uintptr_t)__builtin_dwarf_cfa());
}

/* A C library that has none: its fork does as much, and calls what
 * pthread_atfork was given. */
HOOK pid_t _Fork(void)
{
	void *real_fork = life_real(LIFE__Fork);

	return hooks_fork_by(real_fork ? real_fork : life_real(LIFE_fork),
			     (uintptr_t)__builtin_dwarf_cfa());
}
