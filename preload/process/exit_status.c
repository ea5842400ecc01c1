/*
 * exit_status.c: see exit_status.h.
 *
 * What a parent is told it leaves in its live mapping (exits_told), in the place
 * that the child's number gives; the child's writer finds it there
 * (parent_live.h). One word:
 *
 *	63    60 59        38 37        16 15      0
 *	 count  | child's pid | parent's  |  status |
 *
 * Numbers are used again, and in another pid namespace mean others. So the
 * parent's is compared, too, and what stood in its place when a child was forked
 * does not count. A child knows that by the count, which it has inherited
 * (exit_status_counts), as its recorder may come late. A child whose place another
 * one has taken meanwhile finds nothing; nor does one whose parent is not
 * recorded, or has no live file.
 *
 *  I1  What the parent was told goes before what the process said itself: it
 *      may have died by a signal after it had said so.
 */
#include "preload/process/exit_status.h"

#include <sys/wait.h>

#include "preload/base/sys.h"
#include "preload/ring/exit_place.h"
#include "preload/ring/recorder.h"
#include "unwind/memory.h"

/* Of each place, the count of the last word: static, so that forked children
 * have it. */
static _Atomic uint8_t exit_status_counts[GL_EXITS];

void exit_status_own(int status)
{
	struct recorder *r = recorder;

	if (!recorder_is_on(r) ||
	    !unwind_may(UNWIND_NO_IDS) || sys_getpid() != r->pid)
		return;
	/* the last one counts: an exit's last steps may call _exit */
	atomic_store_explicit(&r->shared->exits,
			      EXIT_STATUS_GIVEN | (status & 0xff),
			      memory_order_relaxed);
}

/* The calling process; 0: it may not ask. */
static int exit_status_self(void)
{
	if (recorder && recorder->pid)
		return recorder->pid;
	return unwind_may(UNWIND_NO_IDS) ? sys_getpid() : 0;
}

static uint64_t exit_status_next(uint64_t word)
{
	return ((word >> EXIT_STATUS_COUNT_SHIFT) + 1)
	       << EXIT_STATUS_COUNT_SHIFT;
}

void exit_status_reaped(int pid, int status)
{
	struct gl_shared *shared = recorder ? recorder->shared : NULL;
	_Atomic uint64_t *place;
	uint64_t word, old, next;

	if (!shared || pid <= 0 || pid >> EXIT_STATUS_PID_BITS ||
	    !(WIFEXITED(status) || WIFSIGNALED(status)))
		return;
	place = &shared->exits_told[exit_status_place(pid)];
	word = exit_status_who(pid, exit_status_self()) | (uint16_t)status;
	old = atomic_load_explicit(place, memory_order_relaxed);
	/* the value is all there is: it pairs with nothing */
	do
		next = exit_status_next(old);
	while (!atomic_compare_exchange_weak_explicit(
		place, &old, word | next, memory_order_relaxed,
		memory_order_relaxed));
	atomic_store_explicit(&exit_status_counts[exit_status_place(pid)],
			      next >> EXIT_STATUS_COUNT_SHIFT,
			      memory_order_relaxed);
}

uint32_t exit_status_start(int pid)
{
	uint32_t count = exit_status_counts[exit_status_place(pid)];
	unsigned i;

	/* its own places are all empty */
	for (i = 0; i < GL_EXITS; i++)
		if (exit_status_counts[i])
			exit_status_counts[i] = 0;
	return count;
}
