/*
 * placement.h: decides where barriers are placed, and in which threads.
 */
#ifndef GNOMON_UNWIND_PLACEMENT_H
#define GNOMON_UNWIND_PLACEMENT_H

#include "unwind/stack.h"

/* Reads what the process allows. Once per process, and again in a forked
 * child. */
void placement_init(const struct capture_config *config);

/* Sets the thread's mode and its reason, as far as known at the thread's
 * start. */
void placement_thread_start(struct capture_thread *t);

/* The thread has a hardware shadow stack: captures read it, and no barriers are
 * placed. */
void placement_hardware(struct capture_thread *t);

/* The images have changed: checks whether one of them forbids barriers. */
void placement_reconsider(struct capture_thread *t);

/* The thread's stacks pass through code of a runtime that may read or move
 * them, or through code whose frames are uncertain: places no barriers from now
 * on. */
void placement_forbid(struct capture_thread *t, enum gt_mode_why why);

/* See placement_consider. */
void placement_consider_slow(struct capture_thread *t);

/*
 * After a walk whose frames are now the shadow: replaces return addresses by
 * stubs where that pays and is allowed. The thread is on its base stack. Mostly
 * nothing is to be done: the innermost barrier is the same, and near enough.
 */
static inline void placement_consider(struct capture_thread *t)
{
	uint32_t inner = t->barrier_count ?
				 t->barrier[t->barrier_count - 1] : 0;

	if (__builtin_expect(inner != t->barrier_innermost ||
				     t->count - inner > t->barrier_reach, 0))
		placement_consider_slow(t);
}

#endif
