/*
 * target.c: see target.h.
 *
 * The main thread may end before the process does. It then stays as a zombie,
 * without memory, descriptors or a program: /proc/PID describes that zombie. So
 * memory sizes are read from a live thread.
 *
 * The target opened its /proc/self/maps itself, so the file is bound to the
 * address space of that time. It is empty once no process has that address
 * space: the target has ended or has executed another program. Without /proc,
 * only the hooks of exec show the latter.
 *
 * /proc has the exit status until the parent has waited for the process, which
 * may be immediately. After that, kernels since 6.15 report it through a pidfd.
 */
#include "cli/recorder/process/target.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/recorder/base/proc_stat.h"
#include "cli/recorder/base/time_ns.h"
#include "cli/recorder/process/target_file.h"
#include "preload/base/ban.h"

/* a failing exec takes less */
#define TARGET_EXEC_NS (200 * UINT64_C(1000000))

/* _IOWR(0xff, 11, 64 bytes), of <linux/pidfd.h>, which older systems lack. */
#define TARGET_GET_INFO 0xc040ff0bu
#define TARGET_INFO_EXIT 8u

struct target_info {	/* TARGET_GET_INFO */
	uint64_t mask;		/* requested and returned fields */
	uint64_t others[6];
	uint32_t another;
	int32_t exit_code;
};
_Static_assert(sizeof(struct target_info) == 64, "the kernel's first version");

void target_watch(struct target *target)
{
	target->pidfd = target_file(GL_FILE_PIDFD);
}

/* Whether the main thread has ended and others have not. */
static bool target_leaderless(int pid)
{
	uint64_t state, threads;

	return proc_stat(pid, PROC_STAT_STATE, &state) && state == 'Z' &&
	       proc_stat(pid, PROC_STAT_THREADS, &threads) && threads > 1;
}

/* A live thread with a ring, other than the main thread; 0: none. */
static int target_other(const struct target *target)
{
	const struct recording *r = target->r;
	uint32_t id;

	for (id = 0; id < r->ring_count; id++) {
		const struct gl_ring *ring = &r->rings[id];
		int32_t tid = order_read(ring, tid);

		if (order_read_acquire(ring, state) != GL_RING_ACTIVE ||
		    tid <= 0 || tid == r->pid)
			continue;
		if (tgkill(r->pid, tid, 0) == 0)
			return tid;
	}
	return 0;
}

/* Whether the process has no memory: it is ending or has ended. */
static bool target_memoryless(int pid)
{
	uint64_t bytes;

	if (proc_stat(pid, PROC_STAT_VSIZE, &bytes))
		return !bytes;
	return kill(pid, 0) && errno == ESRCH;
}

/* Whether an exec replaced the program, as the hooks report. */
static bool target_replaced(struct target *target)
{
	uint64_t now_ns = time_ns_now();

	if (!atomic_load_explicit(&target->r->shared->execs,
				  memory_order_acquire)) {
		target->exec_ns = 0;
		return false;
	}
	if (!target->exec_ns)
		target->exec_ns = now_ns;
	return now_ns - target->exec_ns >= TARGET_EXEC_NS;
}

bool target_same(struct target *target)
{
	int maps = target_file(GL_FILE_MAPS_WHOLE);
	ssize_t got;
	char byte;

	if (maps < 0)
		return !target_replaced(target);
	do
		got = pread(maps, &byte, 1, 0);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return !target_replaced(target);
	return got == 1 || target_memoryless(target->r->pid);
}

bool target_dead(const struct target *target)
{
	struct pollfd asked = { .fd = target->pidfd, .events = POLLIN };
	const struct timespec now = { 0, 0 };
	int pid = target->r->pid;
	uint64_t state;
	int ready;

	if (target->pidfd >= 0) {
		ready = ppoll(&asked, 1, &now, NULL);
		if (ready >= 0)
			return ready == 1;
	}
	/* /proc is not mounted */
	if (!proc_stat(pid, PROC_STAT_STATE, &state))
		return kill(pid, 0) && errno == ESRCH;
	return (state == 'Z' || state == 'X') && !target_leaderless(pid);
}

/* Reads the status through the pidfd, after the parent has waited. */
static bool target_remembered(const struct target *target, int *code)
{
	struct target_info info = { .mask = TARGET_INFO_EXIT };

	if (target->pidfd < 0 || target->r->ban_known & SECCOMP_NO_STATUS ||
	    ioctl(target->pidfd, TARGET_GET_INFO, &info) != 0 ||
	    !(info.mask & TARGET_INFO_EXIT))
		return false;
	*code = info.exit_code;
	return true;
}

/* Reads the status of a zombie, for which the parent has not waited yet.
 * Otherwise the pid may belong to another process. */
static bool target_zombie(const struct target *target, int *code)
{
	uint64_t state, start, value;
	int pid = target->r->pid;

	if (!proc_stat(pid, PROC_STAT_STATE, &state) ||
	    (state != 'Z' && state != 'X') ||
	    !proc_stat(pid, PROC_STAT_STARTTIME, &start) ||
	    start != target->r->start_time ||
	    !proc_stat(pid, PROC_STAT_EXIT_CODE, &value))
		return false;
	*code = (int)value;
	return true;
}

int target_exit_code(const struct target *target)
{
	int code;

	/* in this order: the parent may wait for it in between */
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
