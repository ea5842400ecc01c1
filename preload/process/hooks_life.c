/*
 * hooks_life.c: the functions of life.h as the program enters them. Each calls
 * the real one as it was called itself; results and errno are its. What we do
 * before and after makes no call into the C library, and keeps errno.
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
#include "preload/interpose/life.h"
#include "preload/process/hooks_exit.h"
#include "preload/process/hooks_fork.h"
#include "preload/process/ids.h"
#include "preload/process/seccomp.h"
#include "preload/ring/area.h"
#include "preload/ring/live_map.h"

int prctl(int option, unsigned long a, unsigned long b, unsigned long c,
	  unsigned long d);
int capset(void *header, const void *data);
int unshare(int flags);
int setns(int fd, int type);
int setuid(uid_t user);
int seteuid(uid_t user);
int setreuid(uid_t user, uid_t effective);
int setresuid(uid_t user, uid_t effective, uid_t saved);
int setgid(gid_t group);
int setegid(gid_t group);
int setregid(gid_t group, gid_t effective);
int setresgid(gid_t group, gid_t effective, gid_t saved);
int setgroups(size_t count, const gid_t *groups);
int initgroups(const char *user, gid_t group);

/* The real function's type, and its value, NULL if there is none. */
#define LIFE_REAL(name, type) ((type)life_real(LIFE_##name))

typedef long life_call(long number, long a, long b, long c, long d, long e,
		       long f);

/* ---- filters of system calls ---- */

/* The thread has its ring, and the process its memory, before it may be
 * forbidden what that takes. */
static void life_before_filter(void)
{
	recorder_join();
	area_fill();
	live_map_fill();
	seccomp_before();
}

/* Strict mode also takes the processor's counter away. */
static void life_after_strict(bool done)
{
	if (done) {
		seccomp_after_strict();
	} else {
		seccomp_after_failure();
		recorder_mute(false);
	}
}

static void life_before_strict(void)
{
	life_before_filter();
	recorder_mute(true);
}

static void life_after_filter(bool done, const void *program)
{
	if (done)
		seccomp_after_filter(program);
	else
		seccomp_after_failure();
}

/* ---- prctl ---- */

typedef int life_prctl(int option, unsigned long a, unsigned long b,
		       unsigned long c, unsigned long d);

static int life_prctl_seccomp(life_prctl *real_prctl, unsigned long mode,
			      unsigned long program, unsigned long c,
			      unsigned long d)
{
	int result;

	if (mode == SECCOMP_MODE_STRICT)
		life_before_strict();
	else
		life_before_filter();
	result = real_prctl(PR_SET_SECCOMP, mode, program, c, d);
	if (mode == SECCOMP_MODE_STRICT)
		life_after_strict(result == 0);
	else
		life_after_filter(result == 0, (const void *)program);
	return result;
}

static int life_prctl_tsc(life_prctl *real_prctl, unsigned long how,
			  unsigned long b, unsigned long c, unsigned long d)
{
	int result;

	if (how == PR_TSC_SIGSEGV)
		recorder_mute(true);
	result = real_prctl(PR_SET_TSC, how, b, c, d);
	if ((how == PR_TSC_SIGSEGV) != (result == 0))
		recorder_mute(false);
	return result;
}

/* What bears on privileges. */
static bool life_prctl_followed(int option)
{
	return option == PR_CAPBSET_DROP || option == PR_SET_SECUREBITS ||
	       option == PR_SET_KEEPCAPS || option == PR_SET_NO_NEW_PRIVS ||
	       option == PR_CAP_AMBIENT;
}

HOOK int prctl(int option, unsigned long a, unsigned long b, unsigned long c,
	       unsigned long d)
{
	life_prctl *real_prctl = LIFE_REAL(prctl, life_prctl *);
	int result;

	if (!real_prctl)
		return life_missing();
	if (option == PR_SET_SECCOMP)
		return life_prctl_seccomp(real_prctl, a, b, c, d);
	if (option == PR_SET_TSC)
		return life_prctl_tsc(real_prctl, a, b, c, d);
	result = real_prctl(option, a, b, c, d);
	if (result >= 0 && life_prctl_followed(option))
		ids_follow(__NR_prctl, option, a, b, c, d);
	if (option == PR_SET_NAME && result == 0)
		hooks_thread_named(0, (const char *)a, HOOKS_CALLER);
	return result;
}

/* ---- ids ---- */

/* One id that changes as the kernel's call of the same name does. */
#define LIFE_ID(name, number, types, arguments, ...)                  \
	HOOK int name types                                           \
	{                                                             \
		int (*real_##name) types =                            \
			(int (*) types)life_real(LIFE_##name);        \
		int result;                                           \
                                                                      \
		if (!real_##name)                                     \
			return life_missing();                        \
		result = real_##name arguments;                       \
		if (result == 0)                                      \
			ids_follow(number, __VA_ARGS__);              \
		return result;                                        \
	}

LIFE_ID(setuid, __NR_setuid, (uid_t user), (user), user, 0, 0, 0, 0)
LIFE_ID(seteuid, __NR_setresuid, (uid_t user), (user), -1, user, -1, 0, 0)
LIFE_ID(setreuid, __NR_setreuid, (uid_t user, uid_t effective),
	(user, effective), user, effective, 0, 0, 0)
LIFE_ID(setresuid, __NR_setresuid, (uid_t user, uid_t effective, uid_t saved),
	(user, effective, saved), user, effective, saved, 0, 0)
LIFE_ID(setgid, __NR_setgid, (gid_t group), (group), group, 0, 0, 0, 0)
LIFE_ID(setegid, __NR_setresgid, (gid_t group), (group), -1, group, -1, 0, 0)
LIFE_ID(setregid, __NR_setregid, (gid_t group, gid_t effective),
	(group, effective), group, effective, 0, 0, 0)
LIFE_ID(setresgid, __NR_setresgid,
	(gid_t group, gid_t effective, gid_t saved),
	(group, effective, saved), group, effective, saved, 0, 0)

HOOK int setgroups(size_t count, const gid_t *groups)
{
	int (*real_setgroups)(size_t, const gid_t *) =
		(int (*)(size_t, const gid_t *))life_real(LIFE_setgroups);
	int result;

	if (!real_setgroups)
		return life_missing();
	result = real_setgroups(count, groups);
	if (result == 0)
		ids_follow_setgroups(count, groups);
	return result;
}

HOOK int initgroups(const char *user, gid_t group)
{
	int (*real_initgroups)(const char *, gid_t) =
		(int (*)(const char *, gid_t))life_real(LIFE_initgroups);
	int result;

	if (!real_initgroups)
		return life_missing();
	result = real_initgroups(user, group);
	if (result == 0)
		ids_follow_groups();
	return result;
}

/* The header names a thread of the target, perhaps; the writer means itself. */
static void life_follow_capset(const void *from, const void *data)
{
	struct __user_cap_header_struct header =
		*(const struct __user_cap_header_struct *)from;

	header.pid = 0;
	ids_follow_capset(&header, sizeof(header), data,
			  (header.version == _LINUX_CAPABILITY_VERSION_1 ?
				   _LINUX_CAPABILITY_U32S_1 :
				   _LINUX_CAPABILITY_U32S_3) *
				  sizeof(struct __user_cap_data_struct));
}

HOOK int capset(void *header, const void *data)
{
	int (*real_capset)(void *, const void *) =
		(int (*)(void *, const void *))life_real(LIFE_capset);
	int result;

	if (!real_capset)
		return life_missing();
	result = real_capset(header, data);
	if (result == 0)
		life_follow_capset(header, data);
	return result;
}

/* ---- namespaces ---- */

/* A process whose memory is another's, too, may not enter some of them. */
static void life_alone(void)
{
	if (recorder_is_on(recorder))
		recorder_parted(recorder);
}

HOOK int unshare(int flags)
{
	int result;

	if (!life_real(LIFE_unshare))
		return life_missing();
	life_alone();
	result = LIFE_REAL(unshare, int (*)(int))(flags);
	if (result == 0 && flags & CLONE_NEWUSER)
		ids_follow_user_space();
	return result;
}

HOOK int setns(int fd, int type)
{
	int result;

	if (!life_real(LIFE_setns))
		return life_missing();
	life_alone();
	result = LIFE_REAL(setns, int (*)(int, int))(fd, type);
	if (result == 0 && (type == 0 || type & CLONE_NEWUSER))
		ids_follow_user_space();
	return result;
}

/* ---- raw system calls ---- */

static long life_seccomp(life_call *real_syscall, long how, long flags,
			 long program)
{
	long result;

	if (how == SECCOMP_SET_MODE_STRICT)
		life_before_strict();
	else
		life_before_filter();
	result = real_syscall(__NR_seccomp, how, flags, program, 0, 0, 0);
	if (how == SECCOMP_SET_MODE_STRICT)
		life_after_strict(result == 0);
	else	/* with a listener the answer is a descriptor */
		life_after_filter(result >= 0 &&
					  how == SECCOMP_SET_MODE_FILTER,
				  (const void *)program);
	return result;
}

/* They are for the calling thread only, whatever others have. */
static bool life_raw_id(long number)
{
	return number == __NR_setuid || number == __NR_setreuid ||
	       number == __NR_setresuid;
}

static long life_syscall(long number, long a, long b, long c, long d, long e,
			 long f)
{
	life_call *real_syscall = LIFE_REAL(syscall, life_call *);
	long result;

	if (number == __NR_seccomp && (a == SECCOMP_SET_MODE_FILTER ||
				       a == SECCOMP_SET_MODE_STRICT))
		return life_seccomp(real_syscall, a, b, c);
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
	if (result == 0 && life_raw_id(number) && ids_are_final())
		ids_follow(number, a, b, c, d, e);
	return result;
}

void *life_entry(long number, long a, long b)
{
	if (arch_is_fork(number, a, b) && LIFE_REAL(syscall, void *))
		return (void *)life_syscall;
	switch (number) {
	case __NR_prctl:
	case __NR_seccomp:
	case __NR_unshare:
	case __NR_setns:
	case __NR_capset:
	case __NR_setuid:
	case __NR_setreuid:
	case __NR_setresuid:
	case __NR_execve:
	case __NR_execveat:
	case __NR_wait4:
	case __NR_waitid:
	case __NR_exit_group:
		if (LIFE_REAL(syscall, void *))
			return (void *)life_syscall;
		break;
	}
	return LIFE_REAL(syscall, void *);
}
