/*
 * hooks_identity.c: hooks of the functions of identity.h. Each calls the real
 * function with its own arguments; results and errno are the real function's.
 * Our work before and after it makes no call into the C library, and keeps
 * errno.
 *
 * Called by the program from anywhere, some also in signal handlers and in
 * children that share their parent's memory (vfork).
 */
#include <errno.h>
#include <linux/capability.h>
#include <linux/prctl.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <sys/types.h>
#include <unistd.h>

#include "arch.h"
#include "preload/base/sys.h"
#include "preload/hooks/hooks.h"
#include "preload/hooks/hooks_thread.h"
#include "preload/interpose/identity.h"
#include "preload/process/hooks_exit.h"
#include "preload/process/hooks_fork.h"
#include "preload/process/credentials.h"
#include "preload/process/seccomp.h"
#include "preload/ring/area.h"
#include "preload/ring/forbidden.h"
#include "preload/ring/live_map.h"

int prctl(int option, unsigned long a, unsigned long b, unsigned long c,
	  unsigned long d) ARCH_ENTRY(prctl);
#define IDENTITY(name, parameters, arguments, before, after) int name parameters;
#include "preload/interpose/hooked.def"

typedef long identity_call(long number, long a, long b, long c, long d, long e,
			   long f);

/* ---- system call filters ---- */

/*
 * The calling thread will no longer be able to read the processor's counter
 * (false: it was not forbidden, or no longer is). Its events are then not
 * recorded, but counted as dropped.
 */
static void identity_mute(bool mute)
{
	struct thread *thread = producer_join();

	if (!thread || !(thread->skip & THREAD_MUTE) == !mute)
		return;
	if (mute)
		atomic_fetch_add_explicit(&thread->shared->mutes, 1,
					  memory_order_relaxed);
	producer_set_skip(thread, THREAD_MUTE, mute);
}

/*
 * Called before a filter, or strict mode, which also disables the processor's
 * counter. Gives the thread its ring, and the process its memory, before they
 * may become impossible. Returns the bits that will be forbidden, for
 * identity_after_filter.
 */
static uint32_t identity_before_filter(bool strict, unsigned long filter)
{
	uint32_t bits = SECCOMP_NO_ALL;

	producer_join();
	area_fill();
	live_map_fill();
	if (!strict)
		bits = seccomp_forbids((const void *)filter);
	forbidden_before();
	if (strict)
		identity_mute(true);
	return bits;
}

static void identity_after_filter(bool strict, bool done, uint32_t bits)
{
	forbidden_after(done ? bits : 0, done && !strict);
	if (strict && !done)
		identity_mute(false);
}

/* ---- prctl ---- */

typedef int identity_prctl(int option, unsigned long a, unsigned long b,
			   unsigned long c, unsigned long d);

static int identity_prctl_seccomp(identity_prctl *real_prctl,
				  unsigned long mode, unsigned long filter,
				  unsigned long c, unsigned long d)
{
	bool strict = mode == SECCOMP_MODE_STRICT;
	uint32_t bits = identity_before_filter(strict, filter);
	int result = real_prctl(PR_SET_SECCOMP, mode, filter, c, d);

	identity_after_filter(strict, result == 0, bits);
	return result;
}

static int identity_prctl_tsc(identity_prctl *real_prctl, unsigned long how,
			      unsigned long b, unsigned long c, unsigned long d)
{
	int result;

	if (how == PR_TSC_SIGSEGV)
		identity_mute(true);
	result = real_prctl(PR_SET_TSC, how, b, c, d);
	if ((how == PR_TSC_SIGSEGV) != (result == 0))
		identity_mute(false);
	return result;
}

/* Whether the option affects privileges. */
static bool identity_prctl_followed(int option)
{
	return option == PR_CAPBSET_DROP || option == PR_SET_SECUREBITS ||
	       option == PR_SET_KEEPCAPS || option == PR_SET_NO_NEW_PRIVS ||
	       option == PR_CAP_AMBIENT;
}

HOOK int prctl(int option, unsigned long a, unsigned long b, unsigned long c,
	       unsigned long d)
{
	identity_prctl *real_prctl = REAL(prctl);
	int result;

	if (!real_prctl)
		return identity_missing();
	if (option == PR_SET_SECCOMP)
		return identity_prctl_seccomp(real_prctl, a, b, c, d);
	if (option == PR_SET_TSC)
		return identity_prctl_tsc(real_prctl, a, b, c, d);
	result = real_prctl(option, a, b, c, d);
	if (result >= 0 && identity_prctl_followed(option))
		credentials_follow(REQUEST_CALL_PRCTL, option, a, b, c, d);
	if (option == PR_SET_NAME && result == 0)
		hooks_thread_named(0, (const char *)a, HOOKS_CALLER);
	return result;
}

/* ---- ids, capabilities, namespaces ---- */

/* The header may name a thread of the target; the recorder must name itself. */
static void identity_follow_capset(const void *from, const void *data)
{
	struct __user_cap_header_struct header =
		*(const struct __user_cap_header_struct *)from;

	header.pid = 0;
	credentials_follow_capset(
		&header, sizeof(header), data,
		(header.version == _LINUX_CAPABILITY_VERSION_1
			 ? _LINUX_CAPABILITY_U32S_1
			 : _LINUX_CAPABILITY_U32S_3) *
			sizeof(struct __user_cap_data_struct));
}

/* A process that shares its memory with another one may not enter some
 * namespaces. */
static void identity_alone(void)
{
	if (producer_is_on(producer))
		recorder_wait_exec(producer);
}

static void identity_follow_space(bool users)
{
	if (users)
		credentials_follow_user_space();
}

#define IDENTITY(name, parameters, arguments, before, after)              \
	HOOK int name parameters                                      \
	{                                                             \
		__typeof__(name) *real_##name = REAL(name);           \
		int result;                                           \
                                                                      \
		if (!real_##name)                                     \
			return identity_missing();                        \
		before;                                               \
		result = real_##name arguments;                       \
		if (result == 0)                                      \
			after;                                        \
		return result;                                        \
	}
#include "preload/interpose/hooked.def"

/* ---- raw system calls ---- */

/* With a listener the result is a descriptor. */
static long identity_seccomp(identity_call *real_syscall, long how, long flags,
			     long filter)
{
	bool strict = how == SECCOMP_SET_MODE_STRICT;
	uint32_t bits = identity_before_filter(strict, filter);
	long result = real_syscall(__NR_seccomp, how, flags, filter, 0, 0, 0);

	identity_after_filter(strict, result >= 0, bits);
	return result;
}

/* The raw calls affect only the calling thread; REQUEST_CALLS: not an id
 * call. */
static enum request_call identity_raw_id(long number)
{
	if (number == __NR_setuid || number == ARCH_NR_ID(setuid))
		return REQUEST_CALL_SETUID;
	if (number == __NR_setreuid || number == ARCH_NR_ID(setreuid))
		return REQUEST_CALL_SETREUID;
	if (number == __NR_setresuid || number == ARCH_NR_ID(setresuid))
		return REQUEST_CALL_SETRESUID;
	return REQUEST_CALLS;
}

static long identity_syscall(long number, long a, long b, long c, long d,
			     long e, long f)
{
	identity_call *real_syscall = (identity_call *)real_of(REAL_syscall);
	long result;

	if (number == __NR_seccomp && (a == SECCOMP_SET_MODE_FILTER ||
				       a == SECCOMP_SET_MODE_STRICT))
		return identity_seccomp(real_syscall, a, b, c);
	if (number == __NR_prctl)
		return prctl(a, b, c, d, e);
	if (number == __NR_unshare)
		return unshare(a);
	if (number == __NR_setns)
		return setns(a, b);
	if (number == __NR_capset)
		return capset((void *)a, (const void *)b);
	if (number == __NR_execve)
		return execve((const char *)a, (char **)b, (char **)c);
	if (hooks_exit_raw(number))
		return hooks_exit_syscall(real_syscall, number,
					  (const long[]){ a, b, c, d, e, f });
	if (arch_is_fork(number, a, b))
		return hooks_fork_syscall(real_syscall, number,
					  (const long[]){ a, b, c, d, e, f },
					  (uintptr_t)__builtin_dwarf_cfa());
	if (number == __NR_execveat)
		return execveat(a, (const char *)b, (char **)c, (char **)d, e);
	result = real_syscall(number, a, b, c, d, e, f);
	if (result == 0 && identity_raw_id(number) != REQUEST_CALLS &&
	    credentials_are_final())
		credentials_follow(identity_raw_id(number), a, b, c, d, e);
	return result;
}

void *identity_entry(long number, long a, long b)
{
	if ((arch_is_fork(number, a, b) ||
	     identity_raw_id(number) != REQUEST_CALLS) &&
	    real_of(REAL_syscall))
		return (void *)identity_syscall;
	switch (number) {
	case __NR_prctl:
	case __NR_seccomp:
	case __NR_unshare:
	case __NR_setns:
	case __NR_capset:
	case __NR_execve:
	case __NR_execveat:
	case __NR_wait4:
	case __NR_waitid:
	case __NR_exit_group:
		if (real_of(REAL_syscall))
			return (void *)identity_syscall;
		break;
	}
	return real_of(REAL_syscall);
}
