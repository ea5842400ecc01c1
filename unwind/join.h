/*
 * join.h: the capture of a stack whose outer part is the last one's.
 */
#ifndef GNOMON_UNWIND_JOIN_H
#define GNOMON_UNWIND_JOIN_H

#include "unwind/path.h"
#include "unwind/placement.h"
#include "unwind/walk.h"

/*
 * The context of the stack outward from (ra, sp); 0, and nothing has changed,
 * if this is no case for it: a rule that is not plain, a frame that depends on
 * the frame pointer (where ARCH_FP_LASTS, on another one than the last walk
 * found), a shadow that does not hold. What is worth it is remembered. sp lies on
 * the base stack. Thread context: the owner of the state.
 */
uint32_t join_capture(struct capture_thread *t, uintptr_t ra, uintptr_t sp,
		      uintptr_t fp);

/* The context of the stack, if it is as expected (walk_expected) and need not be
 * remembered; else 0. sp lies on the base stack. */
uint32_t capture_expected(struct capture_thread *t, uintptr_t ra, uintptr_t sp,
			  uintptr_t fp, struct first_walk *first);

/* What capture_slow does with all that a join cannot answer (capture.c). */
uint32_t capture_rare(struct capture_thread *t, uintptr_t ra, uintptr_t sp,
		      uintptr_t fp);

/* The shadow is the stack: what is to be done with it. */
static inline void join_remember(struct capture_thread *t, uintptr_t ra,
				 uintptr_t sp, uint32_t context)
{
	if (t->mode == GT_MODE_BARRIERS)
		placement_consider(t);
	if (t->count > 1)
		path_learn(t, ra, sp, context, 0);
}

#endif
