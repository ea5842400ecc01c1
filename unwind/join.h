/*
 * join.h: captures a stack whose outer frames are those of the thread's last
 * walk (shadow join).
 */
#ifndef GNOMON_UNWIND_JOIN_H
#define GNOMON_UNWIND_JOIN_H

#include "unwind/path.h"
#include "unwind/placement.h"
#include "unwind/walk.h"

/*
 * The context of the stack outward from (ra, sp). 0, without any change, if a
 * join is impossible: a rule is not plain, a frame depends on the frame pointer
 * (with ARCH_FP_LASTS: on another frame pointer than the last walk found), or
 * the shadow does not hold. Updates shadow and path cache where that pays. sp
 * lies on the base stack. Thread context: the owner of the state.
 */
uint32_t join_capture(struct capture_thread *t, uintptr_t ra, uintptr_t sp,
		      uintptr_t fp);

/* The context of the stack, if the prediction (walk_expected) holds and the
 * stack need not be remembered; else 0. sp lies on the base stack. */
uint32_t capture_expected(struct capture_thread *t, uintptr_t ra, uintptr_t sp,
			  uintptr_t fp, struct first_walk *first);

/* The part of capture_slow for stacks that a join cannot answer (capture.c). */
uint32_t capture_rare(struct capture_thread *t, uintptr_t ra, uintptr_t sp,
		      uintptr_t fp);

/* After a walk whose frames are now the shadow: places barriers and updates the
 * path cache. */
static inline void join_remember(struct capture_thread *t, uintptr_t ra,
				 uintptr_t sp, uint32_t context)
{
	if (t->mode == GT_MODE_BARRIERS)
		placement_consider(t);
	if (t->count > 1)
		path_learn(t, ra, sp, context, 0);
}

#endif
