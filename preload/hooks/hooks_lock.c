/*
 * hooks_lock.c: mlockall without our reservations.
 *
 * A program that locks all its memory would lock ours, too, most of which is
 * only reserved: hundreds of megabytes would become resident, and a program
 * with a small lock limit would get an error. So the program's own mappings are
 * locked range by range, as the recorder finds them. If that is impossible, or
 * the program's own memory exceeds its limit, the real function decides.
 *
 * I1: no lock, and no memory but the stack. I2: only the real function changes
 * errno.
 */
#include <errno.h>
#include <linux/capability.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "preload/base/ban.h"
#include "preload/base/sys.h"
#include "preload/hooks/hooks.h"
#include "preload/ring/area.h"
#include "preload/ring/request.h"

#define HOOKS_LOCK_FLAGS (MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT)
#define HOOKS_LOCK_PART 256	/* ranges at a time */

struct hooks_lock {
	uint64_t bytes;		/* of all ranges */
	bool lock;		/* lock, not only count */
	int flags;
};

/* Ignores pages that cannot be faulted in, as mlockall does. */
static void hooks_lock_one(void *owner, struct gl_range range)
{
	uint64_t size = range.end - range.start;
	struct hooks_lock *all = owner;

	all->bytes += size;
	if (!all->lock)
		return;
	if (all->flags & MCL_ONFAULT)
		arch_syscall3(__NR_mlock2, range.start, size, MLOCK_ONFAULT);
	else
		arch_syscall2(__NR_mlock, range.start, size);
}

/* Size of all memory of the program; 0: unknown. `lock`: also locks it. */
static uint64_t hooks_lock_all(bool lock, int flags)
{
	struct gl_range part[HOOKS_LOCK_PART];
	struct hooks_lock all = { .lock = lock, .flags = flags };

	return request_memory(producer, false, part, HOOKS_LOCK_PART,
			      hooks_lock_one, &all) ? all.bytes : 0;
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

/* Whether all memory of the program was locked here. */
static bool hooks_lock_current(int flags)
{
	uint64_t bytes;

	if (!producer_join() || !unwind_may(SECCOMP_NO_ALL))
		return false;
	bytes = hooks_lock_all(false, flags);
	return bytes && bytes <= hooks_lock_limit() &&
	       hooks_lock_all(true, flags);
}

HOOK int mlockall(int flags)
{
	__typeof__(mlockall) *function = REAL(mlockall);

	if (!function)
		return arch_syscall1(__NR_mlockall, flags) ? -1 : 0;
	/* later mappings would be locked and faulted in */
	if (flags & MCL_FUTURE)
		area_fill();
	if (!(flags & MCL_CURRENT) || flags & ~HOOKS_LOCK_FLAGS ||
	    !hooks_lock_current(flags))
		return function(flags);
	return flags & MCL_FUTURE ? function(flags & ~MCL_CURRENT) : 0;
}
