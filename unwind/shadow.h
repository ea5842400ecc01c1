/*
 * shadow.h: the shadow stack: the frames of a thread's last remembered walk,
 * outermost first, which the next walk joins, and the barriers among them. A
 * walk is not remembered if it needs all registers or a read failed, and on
 * other stacks than the thread's own (walk_anew).
 *
 * A barrier (barrier.h) proves every frame outward of its own unchanged: while
 * nothing has returned through it, no call can have changed them. The proof
 * holds only if a walk, or a chain of words equal to those of the last walk,
 * arrives at the barrier's slot and finds its stub there: then no new call has
 * reused the slot. That a barrier "has not been returned through yet" is never
 * concluded from anything else.
 */
#ifndef GNOMON_UNWIND_SHADOW_H
#define GNOMON_UNWIND_SHADOW_H

#include "unwind/base/assertion.h"
#include "unwind/base/context.h"
#include "unwind/walk.h"

/*
 * Drops frames that have returned: their slot lies inward of sp. The thread
 * must be on its base stack.
 */
static inline void shadow_pop(struct capture_thread *t, uintptr_t sp)
{
	const struct shadow_frame *f = t->frames + t->count;

	while (f[-1].slot < sp + ARCH_RA_OFFSET)
		f--;
	t->count = (uint32_t)(f - t->frames);
	DEBUG_ASSERT(t->count > 0);
}

static inline uintptr_t shadow_word_differs(const struct shadow_word *w)
{
	return *(const uintptr_t *)w->at ^ w->value;
}

/*
 * The innermost frame of the shadow, at or outward of `at`, that is unchanged
 * together with all frames outward of it; frames[0] if there is none. The
 * calling walk is at the slot of `at`, so it has passed barriers further in,
 * and they are dropped.
 */
struct shadow_frame *shadow_validate(struct capture_thread *t,
				     struct shadow_frame *at);

/* Whether frames[at] is unchanged, given that a chain of equal words has led to
 * it. Changes nothing. */
bool shadow_stands(const struct capture_thread *t, uint32_t at);

/*
 * The stack was changed by something other than calls and returns: drops the
 * barriers for which some word outward of them has changed.
 */
void shadow_recheck(struct capture_thread *t);

/*
 * Stores the walk's frames as the shadow's inner part (behind frames[join], or
 * as the whole shadow), with the context of each; returns the context of the
 * innermost.
 */
uint32_t shadow_update(struct capture_thread *t, const struct walk *w,
		       enum walk_end end);

/* Computes the hashes of scratch[0] … end[-1], which were walked inward of the
 * stack with this hash, and prefetches the first lookup in the tree. */
static inline void shadow_hash(struct frame *scratch, struct frame *end,
			       uint64_t hash)
{
	struct frame *f;

	for (f = end - 1; f >= scratch; f--) {
		if (f->flags & FRAME_WORD)
			continue;
		hash = context_hash(hash, f->ra);
		f->hash = hash;
	}
	context_prefetch(context_newest(), hash);
}

/* The context of a walk that will not be remembered. */
uint32_t shadow_context_only(struct capture_thread *t, const struct walk *w,
			     enum walk_end end);

/* Places a barrier at frames[at], which has none: replaces its return address
 * in the program's stack by `stub`. */
void shadow_place_barrier(struct capture_thread *t, uint32_t at,
			  uintptr_t stub);

/* Checks sizes, barriers (I5), and the order of the innermost frames and words
 * (I1). */
bool shadow_is_valid(const struct capture_thread *t);

#endif
