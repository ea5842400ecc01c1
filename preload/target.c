/*
 * target.c: see target.h.
 *
 * The first thread may end before the process does. It stays as a zombie then,
 * without memory, descriptors or a program of its own: what the kernel says
 * of /proc/PID is what it says of that zombie. So whoever asks about memory
 * asks about a thread that lives.
 *
 * kcmp(2) tells whether that memory is ours. It is refused to who may not trace
 * the target, as after a change of its user id. /proc/PID/statm is for
 * everybody: its figures of one memory are the same whoever asks, and only the
 * program changes them. So ours are read before and after its, several times.
 *
 * How it ended is in /proc until somebody has waited for it, which may be at
 * once; from then on the kernel (since 6.15) tells it to who has a pidfd.
 *
 * The writer only.
 */
#include "preload/target.h"

#include <errno.h>
#include <linux/kcmp.h>
#include <poll.h>
#include <sys/uio.h>

#include "preload/proc.h"
#include "preload/seccomp.h"
#include "preload/sys.h"
#include "preload/text.h"

#define TARGET_STATM_MAX 256
#define TARGET_LOOKS 16

#define TARGET_INFO_EXIT 8u

struct target_info {	/* TARGET_GET_INFO */
	uint64_t mask;		/* what is wanted, and was found */
	uint64_t others[6];
	uint32_t another;
	int32_t exit_code;
};
_Static_assert(sizeof(struct target_info) == 64, "the kernel's first version");

/* In pages; the counts of pages in use are left out: they are inexact. */
struct target_sizes {
	uint64_t all, code, data;
};

void target_watch(struct target *target)
{
	int pid = target->r->pid;
	long fd = arch_syscall2(__NR_pidfd_open, pid, 0);

	target->pidfd = sys_failed(fd) ? -1 : fd;
	target->kcmp = arch_syscall5(__NR_kcmp, sys_getpid(), pid, KCMP_VM, 0,
				     0) == 0;
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
	char byte;
	struct iovec here = { &byte, 1 }, there = { &byte, 1 };
	uint64_t bytes;

	if (proc_stat(pid, PROC_STAT_VSIZE, &bytes))
		return !bytes;
	/* nothing is mounted at /proc; what is read does not matter */
	return arch_syscall6(__NR_process_vm_readv, pid, (long)&here, 1,
			     (long)&there, 1, 0) == -ESRCH;
}

static bool target_sizes_of(int pid, struct target_sizes *sizes)
{
	char buffer[TARGET_STATM_MAX];
	const char *at = buffer;
	uint64_t field[6];
	unsigned i;

	if (proc_read_of(pid, "statm", buffer, sizeof(buffer)) <= 0)
		return false;
	for (i = 0; i < 6; i++) {
		if (*at < '0' || *at > '9')
			return false;
		field[i] = text_parse(&at);
		at += *at == ' ';
	}
	*sizes = (struct target_sizes){ field[0], field[3], field[5] };
	return true;
}

static bool target_equal(const struct target_sizes *a,
			 const struct target_sizes *b)
{
	return a->all == b->all && a->code == b->code && a->data == b->data;
}

/* Whether its memory differs from ours for sure. */
static bool target_other_sizes(int pid)
{
	struct target_sizes before, its, after;
	unsigned looks;
	int self = sys_getpid();

	for (looks = 0; looks < TARGET_LOOKS; looks++) {
		if (!target_sizes_of(self, &before) ||
		    !target_sizes_of(pid, &its) ||
		    !target_sizes_of(self, &after) || its.all == 0 ||
		    !target_equal(&before, &after) ||
		    target_equal(&before, &its))
			return false;
	}
	return true;
}

bool target_same(const struct target *target)
{
	int pid = target->r->pid;
	long order = -EPERM;

	if (target->thread)
		return true;
	if (target->kcmp)
		order = arch_syscall5(__NR_kcmp, sys_getpid(), pid, KCMP_VM,
				      0, 0);
	if (order < 0)
		return !target_other_sizes(pid);
	return order == 0 || target_memoryless(pid) || target_other(target);
}

bool target_dead(const struct target *target)
{
	struct pollfd poll = { .fd = target->pidfd, .events = POLLIN };
	struct timespec now = { 0, 0 };
	int pid = target->r->pid;
	uint64_t state;
	long ready;

	if (target->thread)
		return false;
	if (target->pidfd >= 0) {
		ready = arch_syscall5(__NR_ppoll, (long)&poll, 1, (long)&now,
				      0, 0);
		if (!sys_failed(ready))
			return ready == 1;
	}
	/* nothing is mounted at /proc */
	if (!proc_stat(pid, PROC_STAT_STATE, &state))
		return arch_syscall2(__NR_kill, pid, 0) == -ESRCH;
	return (state == 'Z' || state == 'X') && !target_leaderless(pid);
}

/* It has been waited for, and the kernel remembers. */
static bool target_remembered(const struct target *target, int *code)
{
	struct target_info info = { .mask = TARGET_INFO_EXIT };

	if (target->pidfd < 0 || !unwind_may(SECCOMP_NO_STATUS) ||
	    arch_syscall3(__NR_ioctl, target->pidfd, TARGET_GET_INFO,
			  (long)&info) != 0 ||
	    !(info.mask & TARGET_INFO_EXIT))
		return false;
	*code = info.exit_code;
	return true;
}

/* Nobody has waited for it, or is not done with it. Else its number may be
 * another's. */
static bool target_zombie(const struct target *target, int *code)
{
	uint64_t state, start, value;
	int pid = target->r->pid;

	if (!proc_stat(pid, PROC_STAT_STATE, &state) ||
	    (state != 'Z' && state != 'X') ||
	    !proc_stat(pid, PROC_STAT_STARTTIME, &start) ||
	    start != target->r->live->start_time ||
	    !proc_stat(pid, PROC_STAT_EXIT_CODE, &value))
		return false;
	*code = (int)value;
	return true;
}

int target_exit_code(const struct target *target)
{
	int code;

	/* in this order: it may be waited for in between */
	if (target_zombie(target, &code) || target_remembered(target, &code))
		return code;
	return -1;
}

int target_task(const struct target *target)
{
	int other;

	if (!target_leaderless(target->r->pid))
		return target->r->pid;
	other = target_other(target);
	return other ? other : target->r->pid;
}
