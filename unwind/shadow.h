/*
 * shadow.h: the frames of a thread's last walk, outermost first, to which the
 * next walk is joined, and the barriers among them.
 *
 * A barrier (barrier.h) vouches for every frame outward of its own: as long
 * as nothing returned through it, no call can have changed them. It does so
 * only where a walk, or a chain of words that equal what the last walk read,
 * arrives at its slot and finds its stub there: then no new call has been made
 * in its frame's place. That it "has not been returned through yet" is never
 * concluded from anything else.
 */
#ifndef GNOMON_UNWIND_SHADOW_H
#define GNOMON_UNWIND_SHADOW_H

#include "unwind/claim.h"
#include "unwind/context.h"
#include "unwind/walk.h"

/*
 * Drops frames that have returned: their slot lies inward of sp's. The thread
 * must be on its base stack.
 */
static inline void shadow_pop(struct capture_thread *t, uintptr_t sp)
{
	const struct shadow_frame *f = t->frames + t->count;

	while (f[-1].slot < sp + ARCH_RA_OFFSET)
		f--;
	t->count = (uint32_t)(f - t->frames);
	CLAIM_FULL(t->count > 0);
}

static inline uintptr_t shadow_word_differs(const struct shadow_word *w)
{
	return *(const uintptr_t *)w->at ^ w->value;
}

/*
 * The innermost frame of the shadow, at or outward of `at`, that still stands
 * with all that lies outward of it; frames[0] if none does. The walk that asks
 * stands at the slot of `at`, so barriers further in are not on its way any
 * more and are forgotten.
 */
struct shadow_frame *shadow_validate(struct capture_thread *t,
				     struct shadow_frame *at);

/* Whether frames[at] stands, given that a chain of equal words has led to it.
 * Changes nothing. */
bool shadow_stands(const struct capture_thread *t, uint32_t at);

/*
 * Something other than calls and returns has changed the stack: barriers that
 * do not stand with every word outward of them are forgotten.
 */
void shadow_recheck(struct capture_thread *t);

/*
 * Makes the walk's frames the shadow's inner part (behind frames[join], or as
 * a whole), with the context of each; returns that of the innermost.
 */
uint32_t shadow_update(struct capture_thread *t, const struct walk *w,
		       enum walk_end end);

/* Hashes of scratch[0] … end[-1], walked inward of the stack with this hash;
 * what the tree will be asked first is on its way into the cache then. */
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

/* The context of a walk that is not to be remembered. */
uint32_t shadow_context_only(struct capture_thread *t, const struct walk *w,
			     enum walk_end end);

/* Puts a barrier at frames[at], which is none: its return address in the
 * program's stack is replaced by `stub`. */
void shadow_place_barrier(struct capture_thread *t, uint32_t at,
			  uintptr_t stub);

/* Sizes, barriers (I5), and the order of the innermost frames and words (I1). */
bool shadow_is_valid(const struct capture_thread *t);

#endif
