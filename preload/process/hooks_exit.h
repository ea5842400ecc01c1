/*
 * hooks_exit.h: hooks of functions that end a process (exit_status.h).
 */
#ifndef GNOMON_HOOKS_EXIT_H
#define GNOMON_HOOKS_EXIT_H

#include <stdbool.h>

typedef long hooks_exit_call(long number, long a, long b, long c, long d,
			     long e, long f);

/* For the constructor, before other libraries register exit handlers. */
void hooks_exit(void);

/* For the destructor, as its last call. */
void hooks_exit_unload(void);

/* Whether this raw system call ends a process, and the function that handles
 * it; arg: all six arguments. */
bool hooks_exit_raw(long number);
long hooks_exit_syscall(hooks_exit_call *real_syscall, long number,
			const long *arg);

#endif
