/*
 * join.c: walk, compare and update in one go, for the captures that neither
 * hit a path nor need anything special: few new frames, all by "CFA = sp +
 * offset", then a frame of the shadow.
 *
 * It does what walk_fast, shadow_validate and shadow_update do together (their
 * invariants hold here, too), without their generality: no state of its own
 * in memory, 240 instructions where they take 600. What it cannot do it leaves
 * to them, untouched. The work is so ordered that what must be fetched from
 * far, the new frames' places in the context tree, is on its way while the
 * words are compared.
 *
 * I1  Nothing of the thread's state changes before the whole outer part is
 *     known to hold.
 *
 * Thread context: the thread that owns the state; not reentrant.
 */
#include "unwind/capture_fast.h"
#include "unwind/claim.h"
#include "unwind/context.h"
#include "unwind/join.h"
#include "unwind/rule_cache.h"
#include "unwind/shadow.h"

#define NEW_MAX FRAMES_SPARE	/* more are not worth a hurry */

struct new_frame {
	uintptr_t slot, ra;
	uint64_t hash;
	uint32_t context;
};

/* Whether the words [w, end] are what they were; all are looked at, for a
 * branch for each would cost more than the few that differ save. */
static inline __attribute__((always_inline)) bool
words_stand(const struct shadow_word *w, const struct shadow_word *end)
{
	uintptr_t differ = 0;

	for (; w + 7 <= end; w += 8) {
		differ |= shadow_word_differs(w) |
			  shadow_word_differs(w + 1) |
			  shadow_word_differs(w + 2) |
			  shadow_word_differs(w + 3) |
			  shadow_word_differs(w + 4) |
			  shadow_word_differs(w + 5) |
			  shadow_word_differs(w + 6) |
			  shadow_word_differs(w + 7);
	}
	for (; w <= end; w++)
		differ |= shadow_word_differs(w);
	return differ == 0;
}

/* Whether frame j and all outward of it hold (shadow.c, I3 and I4). */
static inline __attribute__((always_inline)) bool
shadow_holds(const struct capture_thread *t, const struct shadow_frame *j)
{
	const struct shadow_frame *from = t->frames;

	if (t->barrier_count) {
		from += t->barrier[t->barrier_count - 1];
		if (from > j || *(const uintptr_t *)from->slot != from->raw)
			return false;
	}
	CLAIM_FULL(from->word <= j->word);
	return words_stand(t->words + from->word, t->words + j->word);
}

/* j, or the next frame outward if j lies inward of the slot; no branch. */
static inline struct shadow_frame *pass_inner(struct shadow_frame *j,
					     uintptr_t slot)
{
	uintptr_t passed = -(uintptr_t)(j->slot < slot);

	return (struct shadow_frame *)((uintptr_t)j - (passed & sizeof(*j)));
}

/* The contexts of frames[0] … f[-1], innermost first, whose outermost one was
 * called in `outer`: by the innermost one's hash, if such a stack was met. */
static inline __attribute__((always_inline)) bool
find_whole(const struct context_table *table, struct new_frame *frames,
	   struct new_frame *f, uint32_t outer)
{
	uint32_t id = context_guess(table, frames->hash, frames->ra);
	struct context_trail trail;
	struct new_frame *g;

	if (!id)
		return false;
	trail = context_trail_at(id);
	for (g = frames; g < f; g++) {
		g->context = trail.id;
		if (!context_trail_step(&trail, g->ra))
			return false;
	}
	return trail.id == outer;
}

/* The same, one after the other; what is not there is made. */
static __attribute__((noinline)) void
find_each(const struct context_table *table, struct new_frame *frames,
	  struct new_frame *f, uint32_t outer)
{
	struct new_frame *g;

	for (g = f; g-- > frames;)
		context_prefetch(table, g->hash);
	for (g = f; g-- > frames;)
		outer = g->context = context_child(outer, g->ra, g->hash);
}

/* frames[0] … f[-1], innermost first, become the shadow's part inward of j;
 * the innermost one's context is the answer. */
static inline __attribute__((always_inline)) uint32_t
append(struct capture_thread *t, struct shadow_frame *j,
       const struct new_frame *frames, const struct new_frame *f)
{
	struct shadow_word *w = t->words + j->word, *w_join = w;

	CLAIM_FULL(j > t->frames && j < t->frames + t->count);
	CLAIM_FULL(f >= frames && f - frames <= NEW_MAX);
	while (f-- > frames) {
		j++;
		w++;
		j->slot = w->at = f->slot;
		j->raw = w->value = f->ra;
		j->hash = f->hash;
		j->mark = f->context;
		j->word = (uint32_t)(w - t->words);
		j->flags = 0;
	}
	t->word_count = (uint32_t)(w - t->words) + 1;
	t->count = (uint32_t)(j - t->frames) + 1;
	CLAIM_FULL(t->count <= t->capacity && t->word_count <= 2 * t->capacity);
	t->report->counts.frames_walked += (uint32_t)(w - w_join) + 1;
	t->report->counts.tier_join++;
	t->report->barriers_met += t->barrier_count != 0;
	CLAIM_FULL(shadow_is_valid(t));
	return (uint32_t)j->mark;
}

static inline __attribute__((always_inline)) uint32_t
join(struct capture_thread *t, uintptr_t ra, uintptr_t sp)
{
	struct new_frame frames[NEW_MAX], *f = frames;
	struct shadow_frame *j = t->frames + t->count - 1;
	const struct context_table *table = context_newest();
	_Atomic uint64_t *rules = rule_cache;
	uintptr_t hi = t->hi;
	uint64_t hash;

	CLAIM_FULL(t->count > 0 && t->frames[0].slot == UINTPTR_MAX);
	/* Mostly one frame is new: its place is asked for before that is known. */
	context_prefetch(table, context_hash(j[-(j > t->frames)].hash, ra));
	for (;;) {
		uintptr_t slot = sp + ARCH_RA_OFFSET;
		uintptr_t size;
		uint32_t rule;

		/* One or none: which cannot be predicted. */
		j = pass_inner(j, slot);
		while (__builtin_expect(j->slot < slot, 0))
			j--;
		if (j->slot == slot && j->raw == ra)
			break;
		rule = rule_of(rules, ra);
		size = rule & WORD_CFA_MAX;
		__asm__("" : "+r"(size));
		sp += size * ARCH_WORD;
		if (__builtin_expect(!(rule & WORD_PLAIN), 0))
			return 0;
		/* Or the compiler makes one condition of several. */
		__asm__("" : "+r"(sp));
		if (__builtin_expect(sp > hi, 0))
			return 0;
		__asm__("" : "+r"(sp));
		if (__builtin_expect(f == frames + NEW_MAX, 0))
			return 0;
		f->slot = slot;
		f->ra = ra;
		f++;
		ra = *(const uintptr_t *)(sp + ARCH_RA_OFFSET);
	}
	if (j->flags & FRAME_FP ||
	    j >= t->frames + t->capacity - NEW_MAX)
		return 0;
	hash = j->hash;
	for (struct new_frame *g = f; g-- > frames;)
		g->hash = hash = context_hash(hash, g->ra);
	context_prefetch(table, hash);
	if (!shadow_holds(t, j))
		return 0;
	if (f == frames + 1) {
		frames->context = context_find(table, hash, (uint32_t)j->mark,
					       frames->ra);
		if (__builtin_expect(!frames->context, 0))
			frames->context = context_child((uint32_t)j->mark,
							frames->ra, hash);
	} else if (f > frames &&
		   !find_whole(table, frames, f, (uint32_t)j->mark))
		find_each(table, frames, f, (uint32_t)j->mark);
	return append(t, j, frames, f);
}

uint32_t join_capture(struct capture_thread *t, uintptr_t ra, uintptr_t sp)
{
	return join(t, ra, sp);
}

uint32_t capture_slow(struct capture_thread *t, uintptr_t ra, uintptr_t sp,
		      uintptr_t fp)
{
	/* Pairs with the increment before the loader is entered. */
	uint32_t generation = atomic_load_explicit(&capture_generation,
						   memory_order_acquire);
	uint32_t context;

	if (__builtin_expect(t->fast == generation && t->joins &&
				     sp - t->lo < t->hi - t->lo, 1)) {
		/* I1 of capture.c */
		CLAIM_FULL(t->generation == generation);
		context = join(t, ra, sp);
		if (__builtin_expect(context != 0, 1)) {
			join_remember(t, ra, sp, context);
			return context;
		}
	}
	return capture_rare(t, ra, sp, fp);
}
