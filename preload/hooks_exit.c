/*
 * hooks_exit.c: the functions by which a process ends, and those by which it
 * is told how its children did. Each is the real one's as it was called, also
 * as a cancellation point, with its result and errno. Those that wait hold
 * nothing of ours while they do: they may be left by a jump or an exception.
 *
 * exit and a return from main end in a handler of on_exit, which alone is told
 * the status. Ours is there before any other, so it is the last one; what is
 * left to do then is to write what stdio has. musl has none.
 *
 * Called by the program from anywhere, also in signal handlers and in
 * children that share their parent's memory (vfork).
 */
#include "preload/hooks_exit.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "preload/exit_status.h"
#include "preload/hooks.h"
#include "preload/life.h"
#include "preload/sys.h"

/* The real function's type, and its value, NULL if there is none. */
#define EXIT_REAL(name, type) ((type)life_real(LIFE_##name))

struct rusage;

typedef int exit_register(void (*handler)(int status, void *arg), void *arg);

/* ---- the process itself ---- */

static void exit_handler(int status, void *unused)
{
	(void)unused;
	exit_status_own(status);
}

void hooks_exit(void)
{
	const struct link_map *own = real_own_map(), *image;
	void *function = own ? real_behind(own, "on_exit", &image) : NULL;

	/* one that stands before the C library's may not be ready yet */
	if (!function || !real_is_libc(image))
		return;
	/* refused: its exits are known to its parent only */
	((exit_register *)function)(exit_handler, NULL);
}

static _Noreturn void exit_leave(void *real_leave, int status)
{
	exit_status_own(status);
	if (real_leave)
		((void (*)(int))real_leave)(status);
	for (;;)
		arch_syscall1(__NR_exit_group, status);
}

HOOK _Noreturn void _exit(int status)
{
	exit_leave(life_real(LIFE__exit), status);
}

HOOK _Noreturn void _Exit(int status)
{
	exit_leave(life_real(LIFE__Exit), status);
}

/* ---- its children ---- */

/* result and status as wait4 gives them. */
static void exit_by_wait(int result, int status)
{
	if (result > 0)
		exit_status_reaped(result, status);
}

/* result and info as waitid gives them. */
static void exit_by_waitid(int result, const siginfo_t *info)
{
	int status = info->si_status;

	if (result || !info->si_pid)
		return;
	if (info->si_code == CLD_EXITED)
		exit_status_reaped(info->si_pid, (status & 0xff) << 8);
	else if (info->si_code == CLD_KILLED)
		exit_status_reaped(info->si_pid, status);
	else if (info->si_code == CLD_DUMPED)
		exit_status_reaped(info->si_pid, status | 0x80);
}

/* One that has a status among its arguments; where the program does not want
 * it we do. */
#define EXIT_WAIT(name, types, arguments)                                    \
	HOOK pid_t name types                                                \
	{                                                                    \
		pid_t (*real_##name) types =                                 \
			EXIT_REAL(name, pid_t (*) types);                    \
		pid_t result;                                                \
		int unwanted = 0;                                            \
                                                                             \
		if (!real_##name)                                            \
			return life_missing();                               \
		if (!status)                                                 \
			status = &unwanted;                                  \
		result = real_##name arguments;                              \
		exit_by_wait(result, result > 0 ? *status : 0);              \
		return result;                                               \
	}

EXIT_WAIT(wait, (int *status), (status))
EXIT_WAIT(waitpid, (pid_t pid, int *status, int options),
	  (pid, status, options))
EXIT_WAIT(wait3, (int *status, int options, struct rusage *usage),
	  (status, options, usage))
EXIT_WAIT(wait4, (pid_t pid, int *status, int options, struct rusage *usage),
	  (pid, status, options, usage))

HOOK int waitid(idtype_t which, id_t id, siginfo_t *info, int options)
{
	int (*real_waitid)(idtype_t, id_t, siginfo_t *, int) =
		EXIT_REAL(waitid, int (*)(idtype_t, id_t, siginfo_t *, int));
	siginfo_t unwanted = { 0 };
	int result;

	if (!real_waitid)
		return life_missing();
	if (!info)
		info = &unwanted;
	result = real_waitid(which, id, info, options);
	exit_by_waitid(result, info);
	return result;
}

/* ---- raw system calls ---- */

bool hooks_exit_raw(long number)
{
	return number == __NR_wait4 || number == __NR_waitid ||
	       number == __NR_exit_group;
}

long hooks_exit_syscall(hooks_exit_call *real_syscall, long number,
			const long *arg)
{
	siginfo_t info = { 0 };
	long result, third = arg[2];
	int status = 0;
	int *told = number == __NR_wait4 && arg[1] ? (int *)arg[1] : &status;
	long second = number == __NR_wait4 ? (long)told : arg[1];

	if (number == __NR_exit_group)
		exit_status_own(arg[0]);
	if (number == __NR_waitid && !third)
		third = (long)&info;
	result = real_syscall(number, arg[0], second, third, arg[3], arg[4],
			      arg[5]);
	if (number == __NR_wait4)
		exit_by_wait(result, result > 0 ? *told : 0);
	if (number == __NR_waitid)
		exit_by_waitid(result, (const siginfo_t *)third);
	return result;
}
