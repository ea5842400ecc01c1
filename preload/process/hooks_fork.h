/*
 * hooks_fork.h: hooks of forks that the program makes by syscall().
 */
#ifndef GNOMON_HOOKS_FORK_H
#define GNOMON_HOOKS_FORK_H

#include <stdint.h>

typedef long hooks_fork_call(long number, long a, long b, long c, long d,
			     long e, long f);

/* Handles a raw system call for which arch_is_fork is true; arg: all six
 * arguments. sp: of syscall's caller, after the return. */
long hooks_fork_syscall(hooks_fork_call *real_syscall, long number,
			const long *arg, uintptr_t sp);

#endif
