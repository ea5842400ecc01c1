/*
 * shadow.h: the frames of a thread's last walk, outermost first, to which the
 * next walk is joined.
 */
#ifndef GNOMON_UNWIND_SHADOW_H
#define GNOMON_UNWIND_SHADOW_H

#include "unwind/walk.h"

/*
 * Drops frames that have returned (their slot lies inward of sp's), then
 * compares the words of the others with memory, outermost first. How many
 * still stand. The thread must be on its base stack.
 */
uint32_t shadow_validate(struct capture_thread *t, uintptr_t sp);

/*
 * Makes the walk's frames the shadow's inner part (behind frames[join], or as
 * a whole), with the context of each; returns that of the innermost.
 */
uint32_t shadow_update(struct capture_thread *t, const struct walk *w,
		       enum walk_end end);

/* The context of a walk that is not to be remembered. */
uint32_t shadow_context_only(struct capture_thread *t, const struct walk *w);

#endif
