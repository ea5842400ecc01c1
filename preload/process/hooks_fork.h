/*
 * hooks_fork.h: forks that the program makes by syscall().
 */
#ifndef GNOMON_HOOKS_FORK_H
#define GNOMON_HOOKS_FORK_H

#include <stdint.h>

typedef long hooks_fork_call(long number, long a, long b, long c, long d,
			     long e, long f);

/* What answers a raw system call that arch_is_fork; arg: all six. sp: of
 * syscall, after its return. */
long hooks_fork_syscall(hooks_fork_call *real_syscall, long number,
			const long *arg, uintptr_t sp);

#endif
