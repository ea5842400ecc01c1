/*
 * hooks_exit.c: hooks of functions that end a process, or return how a child
 * ended. Each behaves like the real function, also as a cancellation point,
 * with its result and errno. Functions that wait hold nothing of ours
 * meanwhile, since a longjmp or an exception may leave them.
 *
 * exit and a return from main end in a handler of on_exit, the only kind that
 * gets the status. Ours is registered before all others, so it runs last; after
 * it only stdio is flushed. musl lacks on_exit: there our destructor runs
 * nearly last, without the status. quick_exit ends in a handler of its own,
 * which does not get the status either; musl's quick_exit is not recorded.
 *
 * Called by the program from anywhere, also in signal handlers and in children
 * that share their parent's memory (vfork).
 */
#include "preload/process/hooks_exit.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "preload/base/sys.h"
#include "preload/hooks/hooks.h"
#include "preload/interpose/identity.h"
#include "preload/process/process_end.h"
#include "preload/process/exit_status.h"

struct rusage;

typedef int exit_register(void (*handler)(int status, void *arg), void *arg);
typedef int exit_register_quick(void (*handler)(void *arg), void *arg);

/* exit will call exit_handler. */
static bool exit_handled;

/* ---- the process itself ---- */

static void exit_now(int status)
{
	exit_status_own(status);
	process_end_exit();
}

static void exit_handler(int status, void *unused)
{
	(void)unused;
	exit_now(status);
}

static void exit_handler_quick(void *unused)
{
	(void)unused;
	process_end_exit();
}

/* A function of the C library itself; NULL: it has none. Another definition
 * before it may not be ready yet. */
static void *exit_function(const char *name)
{
	struct elfmap image;
	void *function = real_behind(name, &image);

	return function && real_is_libc(&image) ? function : NULL;
}

void hooks_exit(void)
{
	void *function = exit_function("on_exit");

	/* on failure only the parent knows the exit status */
	if (function)
		exit_handled = !((exit_register *)function)(exit_handler,
							    NULL);
	/* the function that at_quick_exit calls; at_quick_exit itself is in no
	 * shared library */
	function = exit_function("__cxa_at_quick_exit");
	if (function)
		((exit_register_quick *)function)(exit_handler_quick, NULL);
}

void hooks_exit_unload(void)
{
	if (!exit_handled)
		process_end_exit();
}

static _Noreturn void exit_leave(void *real_leave, int status)
{
	exit_now(status);
	if (real_leave)
		((void (*)(int))real_leave)(status);
	for (;;)
		arch_syscall1(__NR_exit_group, status);
}

HOOK _Noreturn void _exit(int status)
{
	exit_leave(real_of(REAL__exit), status);
}

HOOK _Noreturn void _Exit(int status)
{
	exit_leave(real_of(REAL__Exit), status);
}

/* ---- its children ---- */

/* Result and status as from wait4. */
static void exit_by_wait(int result, int status)
{
	if (result > 0)
		exit_status_reaped(result, status);
}

/* Result and info as from waitid. */
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

/* Passes a status pointer of ours if the program passes NULL. */
#define WAIT(name, parameters, arguments)                       \
	HOOK pid_t name parameters                              \
	{                                                       \
		__typeof__(name) *real_##name = REAL(name);     \
		pid_t result;                                   \
		int unwanted = 0;                               \
                                                                \
		if (!real_##name)                               \
			return identity_missing();              \
		if (!status)                                    \
			status = &unwanted;                     \
		result = real_##name arguments;                 \
		exit_by_wait(result, result > 0 ? *status : 0); \
		return result;                                  \
	}
#include "preload/interpose/hooked.def"

HOOK int waitid(idtype_t which, id_t id, siginfo_t *info, int options)
{
	__typeof__(waitid) *real_waitid = REAL(waitid);
	siginfo_t unwanted = { 0 };
	int result;

	if (!real_waitid)
		return identity_missing();
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
	int *known = number == __NR_wait4 && arg[1] ? (int *)arg[1] : &status;
	long second = number == __NR_wait4 ? (long)known : arg[1];

	if (number == __NR_exit_group)
		exit_now(arg[0]);
	if (number == __NR_waitid && !third)
		third = (long)&info;
	result = real_syscall(number, arg[0], second, third, arg[3], arg[4],
			      arg[5]);
	if (number == __NR_wait4)
		exit_by_wait(result, result > 0 ? *known : 0);
	if (number == __NR_waitid)
		exit_by_waitid(result, (const siginfo_t *)third);
	return result;
}
