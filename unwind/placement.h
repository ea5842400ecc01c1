/*
 * placement.h: where barriers are put, and in which threads.
 */
#ifndef GNOMON_UNWIND_PLACEMENT_H
#define GNOMON_UNWIND_PLACEMENT_H

#include "unwind/stack.h"

/* Once a process, and again in a forked child: what the process allows. */
void placement_init(const struct capture_config *config);

/* The thread's mode and the reason for it, as far as is known at its start. */
void placement_thread_start(struct capture_thread *t);

/* The thread has a hardware shadow stack: it is read, and nothing is placed. */
void placement_hardware(struct capture_thread *t);

/* The images have changed: whether one of them cannot stand barriers. */
void placement_reconsider(struct capture_thread *t);

/* The thread's stacks pass through code of a runtime that may look at them, or
 * through code that is not known for sure: no barriers from now on. */
void placement_strange(struct capture_thread *t, enum gt_mode_why why);

/* See placement_consider. */
void placement_consider_slow(struct capture_thread *t);

/*
 * After a walk whose frames are now the shadow: replaces return addresses by
 * stubs where it pays and is allowed. The thread is on its base stack. Mostly
 * there is nothing to do: the innermost barrier is the same, and not too far.
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
