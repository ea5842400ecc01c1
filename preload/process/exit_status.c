/*
 * exit_status.c: see exit_status.h.
 *
 * A parent stores the statuses that it gets from wait in its live mapping
 * (child_exits), in the slot given by the child's pid; the child's recorder
 * reads them there (parent_live.h). One word:
 *
 *	63    60 59        38 37        16 15      0
 *	 count  | child's pid | parent's  |  status |
 *
 * Pids are reused, and mean other processes in another pid namespace. So the
 * parent's pid is compared, too, and a word that was in the slot when the child
 * was forked does not count. The child recognises it by the count that it has
 * inherited (exit_status_counts), as its recorder may start late. There is no
 * status for a child whose slot was overwritten for another child, or whose
 * parent is not recorded or has no live file.
 *
 * I1  The status that the parent got has priority over the one that the process
 *     reported itself: it may have been killed by a signal afterwards.
 */
#include "preload/process/exit_status.h"

#include <sys/wait.h>

#include "preload/base/sys.h"
#include "preload/ring/exit_slot.h"
#include "preload/ring/producer.h"
#include "unwind/base/memory.h"

/* The count of the last word of each slot: static, so that forked children
 * inherit it. */
static _Atomic uint8_t exit_status_counts[GL_EXITS];

void exit_status_own(int status)
{
	struct producer *p = producer;

	if (!producer_is_on(p) ||
	    !unwind_may(UNWIND_NO_IDS) || sys_getpid() != p->pid)
		return;
	/* the last status counts: an exit's last steps may call _exit */
	atomic_store_explicit(&p->shared->exits,
			      EXIT_STATUS_GIVEN | (status & 0xff),
			      memory_order_relaxed);
}

/* The calling process's pid; 0: getpid is forbidden. */
static int exit_status_self(void)
{
	if (producer && producer->pid)
		return producer->pid;
	return unwind_may(UNWIND_NO_IDS) ? sys_getpid() : 0;
}

static uint64_t exit_status_next(uint64_t word)
{
	return ((word >> EXIT_STATUS_COUNT_SHIFT) + 1)
	       << EXIT_STATUS_COUNT_SHIFT;
}

void exit_status_reaped(int pid, int status)
{
	struct gl_shared *shared = producer ? producer->shared : NULL;
	_Atomic uint64_t *place;
	uint64_t word, old, next;

	if (!shared || pid <= 0 || pid >> EXIT_STATUS_PID_BITS ||
	    !(WIFEXITED(status) || WIFSIGNALED(status)))
		return;
	place = &shared->child_exits[exit_status_slot(pid)];
	word = exit_status_key(pid, exit_status_self()) | (uint16_t)status;
	old = atomic_load_explicit(place, memory_order_relaxed);
	/* the value itself is all data: pairs with nothing */
	do
		next = exit_status_next(old);
	while (!atomic_compare_exchange_weak_explicit(
		place, &old, word | next, memory_order_relaxed,
		memory_order_relaxed));
	atomic_store_explicit(&exit_status_counts[exit_status_slot(pid)],
			      next >> EXIT_STATUS_COUNT_SHIFT,
			      memory_order_relaxed);
}

uint32_t exit_status_start(int pid)
{
	uint32_t count = exit_status_counts[exit_status_slot(pid)];
	unsigned i;

	/* its own slots are all empty */
	for (i = 0; i < GL_EXITS; i++)
		if (exit_status_counts[i])
			exit_status_counts[i] = 0;
	return count;
}
