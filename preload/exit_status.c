/*
 * exit_status.c: see exit_status.h.
 *
 * What a parent is told it leaves in the memory that it shares with all that
 * was forked from it (recorder_told), in the place that the child's number
 * gives; the child's writer finds it there. One word:
 *
 *	63    60 59        38 37        16 15      0
 *	   0    | child's pid | parent's  |  status |
 *
 * Numbers are used again, and in another pid namespace mean others. So the
 * parent's is compared, too, and a process empties its place as it begins:
 * nobody can have waited for it by then. A child whose place another one has
 * taken meanwhile finds nothing.
 *
 *  I1  What the parent was told goes before what the process said itself: it
 *      may have died by a signal after it had said so.
 */
#include "preload/exit_status.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>

#include "preload/proc.h"
#include "preload/sys.h"
#include "unwind/memory.h"

#define EXIT_STATUS_PLACES (RECORDER_EXITS_SIZE / sizeof(uint64_t))
#define EXIT_STATUS_PID_BITS 22 /* PID_MAX_LIMIT */
#define EXIT_STATUS_STATUS_BITS 16
#define EXIT_STATUS_GIVEN 0x100u /* beside a status in recorder.exits */

/* It has waited already, and has to get to say so. */
#define EXIT_STATUS_PATIENCE_NS UINT64_C(1000000000)
#define EXIT_STATUS_NAP_NS 1000000

static _Atomic uint64_t *exit_status_place(int pid)
{
	_Atomic uint64_t *places;

	if (!recorder_told)
		return NULL;
	places = (_Atomic uint64_t *)((char *)recorder_told +
				      RECORDER_TOLD_SIZE);
	return &places[(unsigned)pid % EXIT_STATUS_PLACES];
}

static uint64_t exit_status_who(int pid, int parent)
{
	return ((uint64_t)pid << EXIT_STATUS_PID_BITS | (uint64_t)parent)
	       << EXIT_STATUS_STATUS_BITS;
}

void exit_status_begin(struct recorder *r)
{
	_Atomic uint64_t *place = exit_status_place(r->pid);
	uint64_t parent;

	if (proc_stat(r->pid, PROC_STAT_PPID, &parent))
		r->parent = (int)parent;
	/* another one's may stand there */
	if (place && atomic_load_explicit(place, memory_order_relaxed) >>
				     EXIT_STATUS_STATUS_BITS ==
			     exit_status_who(r->pid, r->parent) >>
				     EXIT_STATUS_STATUS_BITS)
		atomic_store_explicit(place, 0, memory_order_relaxed);
}

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

void exit_status_reaped(int pid, int status)
{
	_Atomic uint64_t *place = exit_status_place(pid);

	if (!place || pid <= 0 || pid >> EXIT_STATUS_PID_BITS ||
	    !(WIFEXITED(status) || WIFSIGNALED(status)))
		return;
	atomic_store_explicit(place,
			      exit_status_who(pid, exit_status_self()) |
				      (uint16_t)status,
			      memory_order_relaxed);
}

static int exit_status_told(const struct recorder *r)
{
	_Atomic uint64_t *place = exit_status_place(r->pid);
	uint64_t word;

	if (!place || !r->parent)
		return -1;
	word = atomic_load_explicit(place, memory_order_relaxed);
	if (word >> EXIT_STATUS_STATUS_BITS !=
	    exit_status_who(r->pid, r->parent) >> EXIT_STATUS_STATUS_BITS)
		return -1;
	return (uint16_t)word;
}

/* Whether the parent shares the place, lives, and is told of its children. */
static bool exit_status_may_tell(const struct recorder *r)
{
	uint64_t ignored;

	if (!r->forked || !recorder_told || r->parent <= 1 ||
	    arch_syscall2(__NR_kill, r->parent, 0) == -ESRCH)
		return false;
	return !proc_stat(r->parent, PROC_STAT_SIGIGNORE, &ignored) ||
	       !(ignored >> (SIGCHLD - 1) & 1);
}

bool exit_status_child(const struct recorder *r, unsigned *at, int *pid,
		       int *status)
{
	const uint64_t mask = (UINT64_C(1) << EXIT_STATUS_PID_BITS) - 1;

	while (recorder_told && *at < EXIT_STATUS_PLACES) {
		uint64_t word = atomic_load_explicit(exit_status_place((*at)++),
						     memory_order_relaxed);
		uint64_t who = word >> EXIT_STATUS_STATUS_BITS;

		*status = (uint16_t)word;
		*pid = (int)(who >> EXIT_STATUS_PID_BITS);
		if (word && (who & mask) == (uint64_t)r->pid &&
		    WIFSIGNALED(*status))
			return true;
	}
	return false;
}

int exit_status_find(const struct recorder *r)
{
	const struct timespec nap = { 0, EXIT_STATUS_NAP_NS };
	uint64_t until = sys_now_ns() + EXIT_STATUS_PATIENCE_NS;
	uint32_t own = atomic_load_explicit(&r->shared->exits, memory_order_relaxed);
	int code;

	for (;;) {
		bool more =
			!own && sys_now_ns() < until && exit_status_may_tell(r);

		/* after the look at the parent, which may tell and end */
		code = exit_status_told(r);
		if (code >= 0 || !more)
			break;
		arch_syscall2(__NR_nanosleep, (long)&nap, 0);
	}
	if (code >= 0)
		return code; /* I1 */
	return own ? (int)(own & 0xff) << 8 : -1;
}
