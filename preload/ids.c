/*
 * ids.c: see ids.h. Repeating the call is exact: before it the writer had the
 * same ids and capabilities, so it has the same afterwards, keepcaps, secure
 * bits, user namespaces and all.
 */
#include "preload/ids.h"

#include <errno.h>

#include "preload/recorder.h"
#include "preload/seccomp.h"
#include "preload/sys.h"
#include "preload/tid.h"

#define IDS_GROUPS_MAX 1024	/* on the stack; else the writer ends */

static bool ids_recording(void)
{
	return recorder && atomic_load_explicit(&recorder->state,
						memory_order_acquire) ==
				   RECORDER_ON &&
	       !recorder->writer_is_thread;
}

/* A child that shares our memory (vfork) has ids of its own. */
static bool ids_our_own(void)
{
	return ids_recording() && (!unwind_may(UNWIND_NO_IDS) ||
				   sys_getpid() == recorder->pid);
}

static void ids_give_up(void)
{
	struct recorder *r = recorder;
	struct gl_shared *shared = r->shared;

	if (!shared || !recorder_writer_alive(r))
		return;
	atomic_store_explicit(&shared->stop, 1, memory_order_release);
	recorder_wake(r);
}

static void ids_ask(const struct ask *question)
{
	long result;

	if (!ask_writer(recorder, question, &result))
		ids_give_up();
}

void ids_follow(long number, long a, long b, long c, long d, long e)
{
	struct ask question = { .what = ASK_CALL, .number = number,
				.arg = { a, b, c, d, e } };

	if (ids_our_own())
		ids_ask(&question);
}

void ids_follow_groups(void)
{
	uint32_t groups[IDS_GROUPS_MAX];
	long n;

	if (!ids_our_own())
		return;
	n = unwind_may(SECCOMP_NO_ALL) ?
		    arch_syscall2(__NR_getgroups, IDS_GROUPS_MAX,
				  (long)groups) :
		    -EPERM;
	if (sys_failed(n))
		ids_give_up();
	else
		ids_follow(__NR_setgroups, n, (long)groups, 0, 0, 0);
}

void ids_follow_user_space(void)
{
	struct ask question = { .what = ASK_USER_SPACE };

	if (!ids_our_own())
		return;
	question.arg[0] = tid_own();
	ids_ask(&question);
}

bool ids_are_final(void)
{
	uint32_t real, effective, saved;

	if (!unwind_may(SECCOMP_NO_ALL) || !ids_our_own() ||
	    arch_syscall3(__NR_getresuid, (long)&real, (long)&effective,
			  (long)&saved))
		return false;
	return real == effective && real == saved && real != 0;
}
