/*
 * hooks_lock.c: mlockall without our reservations.
 *
 * A program that locks all its memory would lock ours, too, most of which is
 * only reserved: hundreds of megabytes would become resident, and one that may
 * lock a few would be refused. So what is mapped now and is not ours is locked
 * range by range. Where that cannot be done, or the program's own memory is
 * more than it may lock, the real function decides.
 *
 * I1: no lock, and no memory but the stack's.
 * I2: errno is touched by the real function alone.
 */
#include <errno.h>
#include <linux/capability.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "preload/base/ban.h"
#include "preload/base/proc_lines.h"
#include "preload/base/sys.h"
#include "preload/hooks/hooks.h"
#include "preload/ring/area.h"
#include "preload/ring/live_map.h"

#ifndef MCL_ONFAULT
#define MCL_ONFAULT 4
#endif
#ifndef MLOCK_ONFAULT
#define MLOCK_ONFAULT 1
#endif

#define HOOKS_LOCK_FLAGS (MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT)
#define HOOKS_LOCK_BUFFER 8192	/* a line of maps is 4.2 KiB at most */
#define HOOKS_LOCK_OURS (GL_OWN + 1)

/* Of this library, as the linker knows it. */
extern BASE_HIDDEN const char __ehdr_start[], _end[];

struct hooks_lock_range {
	uint64_t start, end;
};

/* What to do with each range that is the program's. */
struct hooks_lock {
	bool lock;		/* else count */
	bool on_fault;		/* pages as they are touched */
	uint64_t bytes;
	unsigned count;		/* of what is ours */
	struct hooks_lock_range ours[HOOKS_LOCK_OURS];
};

static void hooks_lock_add(struct hooks_lock *work, const void *at,
			   uint64_t bytes)
{
	uint64_t start = (uintptr_t)at;

	work->ours[work->count++] = (struct hooks_lock_range){
		start, start + bytes
	};
}

static void hooks_lock_ours(struct hooks_lock *work)
{
	struct live_range live[GL_LIVE_RANGES];
	unsigned count = live_map_ranges(live), i;
	struct area_range piece;

	for (i = 0; area_piece(i, &piece); i++)
		hooks_lock_add(work, piece.at, piece.bytes);
	for (i = 0; i < count; i++)
		hooks_lock_add(work, live[i].at, live[i].bytes);
	hooks_lock_add(work, __ehdr_start,
		       base_round_up((uintptr_t)_end, 4096) -
			       (uintptr_t)__ehdr_start);
}

static void hooks_lock_one(struct hooks_lock *work, uint64_t start,
			   uint64_t end)
{
	work->bytes += end - start;
	if (!work->lock)
		return;
	/* what cannot be brought in is passed over, as mlockall does */
	if (work->on_fault)
		arch_syscall3(__NR_mlock2, start, end - start, MLOCK_ONFAULT);
	else
		arch_syscall2(__NR_mlock, start, end - start);
}

/* [start, end) without what is ours: the kernel may have merged neighbours. */
static void hooks_lock_part(struct hooks_lock *work, uint64_t start,
			    uint64_t end)
{
	const struct hooks_lock_range *ours = work->ours;
	unsigned i;

	while (start < end) {
		uint64_t to = end;

		for (i = 0; i < work->count; i++) {
			if (start >= ours[i].start && start < ours[i].end)
				break;
			if (ours[i].start > start && ours[i].end > ours[i].start)
				to = base_min(to, ours[i].start);
		}
		if (i < work->count) {
			start = ours[i].end;
			continue;
		}
		hooks_lock_one(work, start, to);
		start = to;
	}
}

static bool hooks_lock_all(struct hooks_lock *work)
{
	struct proc_lines_mapping mapping;
	char buffer[HOOKS_LOCK_BUFFER];
	struct proc_lines lines;
	const char *line;

	work->bytes = 0;
	if (proc_lines_open(&lines, "/proc/thread-self/maps", buffer,
			    sizeof(buffer)))
		return false;
	while ((line = proc_lines_next(&lines)))
		if (proc_lines_mapping(line, &mapping))
			hooks_lock_part(work, mapping.start, mapping.end);
	proc_lines_close(&lines);
	return work->bytes != 0;
}

/* How much memory this thread may lock. */
static uint64_t hooks_lock_limit(void)
{
	struct __user_cap_header_struct header = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = { 0 };
	uint64_t limit[2] = { 0, 0 };	/* soft, hard */

	if (!arch_syscall2(__NR_capget, (long)&header, (long)data) &&
	    data[CAP_TO_INDEX(CAP_IPC_LOCK)].effective &
		    CAP_TO_MASK(CAP_IPC_LOCK))
		return UINT64_MAX;
	if (arch_syscall4(__NR_prlimit64, 0, RLIMIT_MEMLOCK, 0, (long)limit))
		return 0;
	return limit[0];
}

/* Whether all that is the program's was locked here. */
static bool hooks_lock_current(int flags)
{
	struct hooks_lock work = { .on_fault = flags & MCL_ONFAULT };

	if (!recorder || !unwind_may(SECCOMP_NO_ALL))
		return false;
	hooks_lock_ours(&work);
	if (!hooks_lock_all(&work) || work.bytes > hooks_lock_limit())
		return false;
	work.lock = true;
	return hooks_lock_all(&work);
}

HOOK int mlockall(int flags)
{
	__typeof__(mlockall) *function = REAL(mlockall);

	if (!function)
		return arch_syscall1(__NR_mlockall, flags) ? -1 : 0;
	/* what is mapped later would be locked, and brought in */
	if (flags & MCL_FUTURE)
		area_fill();
	if (!(flags & MCL_CURRENT) || flags & ~HOOKS_LOCK_FLAGS ||
	    !hooks_lock_current(flags))
		return function(flags);
	return flags & MCL_FUTURE ? function(flags & ~MCL_CURRENT) : 0;
}
