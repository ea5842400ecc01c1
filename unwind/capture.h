/*
 * capture.h: captures the calling thread's stack as one context id.
 *
 * The tiers, cheapest first (docs/ARCHITECTURE.md): path cache, shadow join,
 * full walk. Each is exact. The context tree's nodes lie in memory of the
 * embedder (struct capture_config); everything else comes from unwind_alloc.
 */
#ifndef GNOMON_UNWIND_CAPTURE_H
#define GNOMON_UNWIND_CAPTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unwind/base/capture_config.h"
#include "unwind/base/layout.h"

struct capture_thread;	/* per thread, opaque; from unwind_alloc */

ORDER_BEGIN

/* A hit of the path cache writes nothing: tier_path is the number of captures
 * (which the embedder counts) minus all other tiers. */
struct capture_counts {
	uint64_t tier_join, tier_full, tier_plain, tier_hardware;
	uint64_t frames_walked;
	uint64_t oracle_checks, oracle_differences;
	uint64_t stops[GT_STOP_COUNT];	/* walks by how they ended */
};

/*
 * Statistics of a thread's captures, for other threads and processes. Only the
 * owner writes them, in memory that the embedder chooses and may share with
 * another process. A reader sees them some events late, and not as one
 * consistent moment. `counts` covers all threads that have used this state; the
 * other fields describe its current thread.
 */
struct capture_report {
	uint32_t mode;		/* enum gt_mode */
	uint32_t why;		/* enum gt_mode_why */
	uint64_t path_bytes, path_bytes_max;	/* path cache: now, its bound */
	uint64_t path_ways, path_ways_used;	/* stacks it can hold, holds */
	uint64_t stack_bytes, hardware_bytes;	/* other parts of the state */
	uint64_t barriers_placed, barriers_met;	/* a walk or path ended at one */
	struct capture_counts counts;
};

ORDER_END

/* All memory of the thread's state. */
static inline uint64_t
capture_report_bytes(const struct capture_report *report)
{
	return report->path_bytes + report->stack_bytes +
	       report->hardware_bytes;
}

/*
 * Process-wide set-up: dictionary, tables, images mapped now. Called once,
 * before any other thread may capture, while the loader's list is not changing.
 * 0 or -errno; after a failure no other function of this file may be called.
 */
int capture_init(const struct capture_config *config);

/* A capture state for the calling thread, made at its first event. After
 * capture_thread_reset a later thread may reuse it. NULL: no memory.
 * on_main_stack: the thread's stack ends at main_stack_end; otherwise it ends
 * at the thread pointer. report: zeroed, must live as long as the state; NULL:
 * the state has its own. */
struct capture_thread *capture_thread_new(bool on_main_stack,
					  struct capture_report *report);
void capture_thread_reset(struct capture_thread *thread,
			  bool on_main_stack);

/*
 * The calling thread's stack was, or may have been, replaced by another one in
 * the same place (a jump to a copy that was put back): the remembered frames
 * are no longer trusted. Two stores; only the owner calls it, also in a handler
 * that interrupted a capture.
 */
void capture_stack_replaced(struct capture_thread *thread);

/* A jump left a capture of this thread: its remembered frames may be half
 * written and are dropped; mode and counts stay. The owner only. */
void capture_thread_drop(struct capture_thread *thread);

/*
 * The context of the calling thread's stack outward from (ra, sp): ra is the
 * return address of the hook, sp the stack pointer after its return, fp the
 * frame pointer of the hook's caller. The hook itself must keep a frame
 * pointer: ra and fp lie in its frame, at sp + ARCH_HOOK_RA and sp +
 * ARCH_HOOK_FP. Not reentrant for one `thread`. errno kept.
 */
uint32_t capture_stack(struct capture_thread *thread, uintptr_t ra,
		       uintptr_t sp, uintptr_t fp);

/* Like capture_stack, by a plain walk that does not change the thread's state,
 * which may be NULL: for hooks that interrupted a hook (signal handlers).
 * Async-signal-safe. */
uint32_t capture_stack_plain(const struct capture_thread *thread, uintptr_t ra,
			     uintptr_t sp, uintptr_t fp);

/* May be called by any thread, while the owner captures. */
const struct capture_report *capture_thread_report(
	const struct capture_thread *thread);

#endif
