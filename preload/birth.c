/*
 * birth.c: see birth.h.
 *
 * The task shares memory and nothing else with who makes it; where that is
 * refused, it is a thread like others. It has a stack of its own, and a block
 * that its thread pointer points to, because compiled code may look for a
 * canary there.
 *
 * I1: all signals are blocked from before the clone on; the task is born with
 * this mask, and keeps it.
 */
#include "preload/birth.h"

#include <errno.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "preload/area.h"
#include "preload/sys.h"
#include "unwind/signals.h"

#define BIRTH_STACK (256u << 10)
#define BIRTH_MIDWIFE (16u << 10)	/* stack of the task that makes it */
#define BIRTH_TLS 4096

static void birth_deliver(struct birth *birth)
{
	birth->pid = arch_clone_task(CLONE_VM | CLONE_SETTLS | CLONE_UNTRACED,
				     birth->stack + BIRTH_STACK, birth->tls,
				     birth->fn, birth->arg);
}

static void birth_midwife(void *arg)
{
	birth_deliver(arg);
	arch_syscall1(__NR_exit, 0);
}

/* Whether orphans become this process's own children. */
static bool birth_adopts(void)
{
	int subreaper = 0;

	arch_syscall5(__NR_prctl, PR_GET_CHILD_SUBREAPER, (long)&subreaper, 0,
		      0, 0);
	return subreaper || sys_getpid() == 1;
}

/*
 * The writer must be nobody's child in the target: it ends after the target,
 * so a program that waits for all its children, whatever their exit signal
 * (__WALL: tracers, inits), would wait for ever. So a task that ends at once
 * makes it, and is reaped here. A process that adopts orphans has it for a
 * child anyway, and then rather without a signal at its end.
 *
 * CLONE_UNTRACED: a debugger would stop at our tasks' births, follow them
 * rather than the program, or wait for their ends.
 */
static long birth_bear(struct birth *birth)
{
	long midwife;

	birth->pid = -EAGAIN;
	if (birth_adopts()) {
		birth_deliver(birth);
		return birth->pid;
	}
	/* CLONE_VFORK: she is gone when this returns. Her stack lies
	 * above the writer's. */
	midwife = arch_clone_task(CLONE_VM | CLONE_VFORK | CLONE_UNTRACED,
				  birth->stack + BIRTH_STACK + BIRTH_MIDWIFE,
				  NULL, birth_midwife, birth);
	if (sys_failed(midwife))
		return midwife;
	while (arch_syscall4(__NR_wait4, midwife, 0, __WALL, 0) == -EINTR)
		;
	return birth->pid;
}

int birth_prepare(struct birth *birth)
{
	char *tls = area_alloc(BIRTH_TLS);

	birth->stack = area_alloc(BIRTH_STACK + BIRTH_MIDWIFE);
	if (!birth->stack || !tls)
		return -ENOMEM;
	birth->tls = tls + BIRTH_TLS / 2;
	*(void **)birth->tls = birth->tls;
	return 0;
}

long birth_give(struct birth *birth)
{
	const unsigned long thread = CLONE_VM | CLONE_SETTLS | CLONE_SIGHAND |
				     CLONE_THREAD | CLONE_SYSVSEM |
				     CLONE_UNTRACED;
	uint64_t old;

	signals_mask(SIGNALS_ALL, &old);	/* I1 */
	birth->thread = false;
	if (sys_failed(birth_bear(birth))) {
		birth->thread = true;
		birth->pid = arch_clone_task(thread,
					     birth->stack + BIRTH_STACK,
					     birth->tls, birth->fn,
					     birth->arg);
	}
	signals_mask(old, NULL);
	return birth->pid;
}
