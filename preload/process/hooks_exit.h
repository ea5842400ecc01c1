/*
 * hooks_exit.h: hooks that are there when a process ends (exit_status.h).
 */
#ifndef GNOMON_HOOKS_EXIT_H
#define GNOMON_HOOKS_EXIT_H

#include <stdbool.h>

typedef long hooks_exit_call(long number, long a, long b, long c, long d,
			     long e, long f);

/* The constructor, before others' ask for anything to be done at an exit. */
void hooks_exit(void);

/* The destructor, after all else. */
void hooks_exit_unload(void);

/* Whether this raw system call is one of them, and what then answers it; arg:
 * all six. */
bool hooks_exit_raw(long number);
long hooks_exit_syscall(hooks_exit_call *real_syscall, long number,
			const long *arg);

#endif
