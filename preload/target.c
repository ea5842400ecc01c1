/*
 * target.c: see target.h.
 *
 * The first thread may end before the process does. It stays as a zombie then,
 * without memory, descriptors or a program of its own: what the kernel says
 * of /proc/PID is what it says of that zombie. So whoever asks about memory
 * asks about a thread that lives.
 *
 * The writer only.
 */
#include "preload/target.h"

#include <errno.h>
#include <linux/kcmp.h>
#include <poll.h>

#include "preload/proc.h"
#include "preload/sys.h"

void target_watch(struct target *target)
{
	int pid = target->r->pid;
	long fd = arch_syscall2(__NR_pidfd_open, pid, 0);

	target->pidfd = sys_failed(fd) ? -1 : fd;
	target->kcmp = arch_syscall5(__NR_kcmp, sys_getpid(), pid, KCMP_VM, 0,
				     0) == 0;
	if (!proc_stat(pid, PROC_STAT_STARTSTACK, &target->start_stack))
		target->start_stack = 0;
}

/* The first thread has ended, others have not. */
static bool target_leaderless(int pid)
{
	uint64_t state, threads;

	return proc_stat(pid, PROC_STAT_STATE, &state) && state == 'Z' &&
	       proc_stat(pid, PROC_STAT_THREADS, &threads) && threads > 1;
}

static bool target_shares(int tid)
{
	return !arch_syscall5(__NR_kcmp, sys_getpid(), tid, KCMP_VM, 0, 0);
}

/* A thread, not the first, that is known by its ring and lives; 0: none. */
static int target_other(const struct target *target)
{
	const struct recorder *r = target->r;
	uint32_t count = atomic_load_explicit(&r->live->ring_count,
					      memory_order_acquire), id;

	for (id = 0; id < count; id++) {
		const struct gl_ring *ring = &r->rings[id];

		if (__atomic_load_n(&ring->state, __ATOMIC_ACQUIRE) !=
			    GL_RING_ACTIVE ||
		    ring->tid == r->pid)
			continue;
		if (arch_syscall3(__NR_tgkill, r->pid, ring->tid, 0) == 0 &&
		    (!target->kcmp || target_shares(ring->tid)))
			return ring->tid;
	}
	return 0;
}

/* The first thread has no memory, not that of another program: it is on its
 * way out, or has gone. */
static bool target_memoryless(int pid)
{
	uint64_t bytes;

	return proc_stat(pid, PROC_STAT_VSIZE, &bytes) && !bytes;
}

bool target_same(const struct target *target)
{
	int pid = target->r->pid;
	uint64_t stack;
	long order;

	if (target->thread)
		return true;
	if (target->kcmp) {
		order = arch_syscall5(__NR_kcmp, sys_getpid(), pid, KCMP_VM,
				      0, 0);
		/* below 0: not allowed to ask any more, nothing is known */
		return order <= 0 || target_memoryless(pid) ||
		       target_other(target);
	}
	/* where a stack begins is drawn anew by each exec */
	return !target->start_stack ||
	       !proc_stat(pid, PROC_STAT_STARTSTACK, &stack) ||
	       stack == target->start_stack || target_memoryless(pid);
}

bool target_dead(const struct target *target)
{
	struct pollfd poll = { .fd = target->pidfd, .events = POLLIN };
	struct timespec now = { 0, 0 };
	int pid = target->r->pid;
	uint64_t state;

	if (target->thread)
		return false;
	if (target->pidfd >= 0)
		return arch_syscall5(__NR_ppoll, (long)&poll, 1, (long)&now,
				     0, 0) == 1;
	/* nothing is mounted at /proc */
	if (!proc_stat(pid, PROC_STAT_STATE, &state))
		return arch_syscall2(__NR_kill, pid, 0) == -ESRCH;
	return (state == 'Z' || state == 'X') && !target_leaderless(pid);
}

int target_task(const struct target *target)
{
	int other;

	if (!target_leaderless(target->r->pid))
		return target->r->pid;
	other = target_other(target);
	return other ? other : target->r->pid;
}
