/*
 * join.c: walks, compares and updates the shadow in one pass, for captures
 * without a path cache hit that need nothing special: few new frames, all by
 * "CFA = sp + offset", then a frame of the shadow.
 *
 * It combines walk_fast, shadow_validate and shadow_update (their invariants
 * hold here too), without their generality. Other stacks are left to them, with
 * nothing changed. The new frames' contexts are searched among the recent
 * stacks (predict.h), whose slot is prefetched meanwhile; the index is searched
 * only if they are not there.
 *
 * I1  The shadow does not change before its whole outer part is known to be
 *     valid.
 *
 * Thread context: the thread that owns the state; not reentrant.
 */
#include "unwind/base/assertion.h"
#include "unwind/base/context.h"
#include "unwind/capture_fast.h"
#include "unwind/join.h"
#include "unwind/predict.h"
#include "unwind/rule_cache.h"
#include "unwind/shadow.h"

#define NEW_MAX FRAMES_SPARE	/* with more, this is not worth it */

struct new_frame {
	uintptr_t slot, ra;
	uint32_t context;
#if ARCH_LINK_REGISTER
	struct frame_link link;
#endif
};

/* The position of a walk: the stack pointer, and the word in the slot of the
 * frame there. Without a link register, one of them determines the other. */
struct new_place {
	uintptr_t slot;
	struct frame_link link;
	uint32_t rules;		/* the rules of all frames further in, or-ed */
	uintptr_t fp;		/* of the hook's caller */
};

static inline __attribute__((always_inline)) void
new_frame_set(struct new_frame *f, const struct new_place *at, uintptr_t ra)
{
	f->slot = at->slot;
	f->ra = ra;
#if ARCH_LINK_REGISTER
	f->link = at->link;
#endif
}

/* The word in the slot of a new frame. */
static inline __attribute__((always_inline)) uintptr_t
new_frame_raw(const struct new_frame *f)
{
#if ARCH_LINK_REGISTER
	return f->link.raw;
#else
	return f->ra;
#endif
}

static inline __attribute__((always_inline)) uintptr_t
new_frame_sp(const struct new_frame *f)
{
#if ARCH_LINK_REGISTER
	return f->link.sp;
#else
	return f->slot;
#endif
}

/* Whether the walk is at the shadow's frame j; it is in the slot of j. */
static inline __attribute__((always_inline)) bool
stands_at(const struct new_place *at, uintptr_t ra,
	  const struct shadow_frame *j)
{
	return (ARCH_LINK_REGISTER ? at->link.raw : ra) == j->raw &&
	       shadow_frame_leaves(j, at->link.sp);
}

/* Whether the walk reaches frame j with the frame pointer that the last walk
 * needed from there on, if it needed one. That is rare where most functions
 * save it: those architectures give up. */
static inline __attribute__((always_inline)) bool
has_fp_of(const struct new_place *at, const struct shadow_frame *j)
{
	return !(j->flags & FRAME_FP) ||
	       (ARCH_FP_LASTS && !rule_saved(at->rules) && at->fp == j->fp);
}

/* Whether the words [w, end] are unchanged. All are compared: a branch for each
 * would cost more than it saves. */
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

/* The number of barriers at frame j or further out. The walk has passed those
 * further in. */
static inline uint32_t outer_barriers(const struct capture_thread *t,
				      const struct shadow_frame *j)
{
	uint32_t n = t->barrier_count, at = (uint32_t)(j - t->frames);

	while (n && __builtin_expect(t->barrier[n - 1] > at, 0))
		n--;
	return n;
}

/* Whether frame j and all frames outward of it are unchanged (shadow.c, I3 and
 * I4); `barriers` of them are barriers. */
static inline __attribute__((always_inline)) bool
shadow_holds(const struct capture_thread *t, const struct shadow_frame *j,
	     uint32_t barriers)
{
	const struct shadow_frame *from = t->frames;

	if (barriers) {
		from += t->barrier[barriers - 1];
		if (*(const uintptr_t *)from->slot != from->raw)
			return false;
	}
	DEBUG_ASSERT(from <= j && from->word <= j->word);
	return words_stand(t->words + from->word, t->words + j->word);
}

/* Of four frames, j or the next one outward whose slot is not inward of `slot`;
 * no branch, and no load waits for another. */
static inline struct shadow_frame *pass_inner(struct shadow_frame *j,
					     uintptr_t slot)
{
	return j - ((j[0].slot < slot) + (j[-1].slot < slot) +
		    (j[-2].slot < slot) + (j[-3].slot < slot));
}

/* Whether frames[0] … f[-1], innermost first, called from `outer`, are the
 * stack of this context; if so, stores their contexts. */
static inline __attribute__((always_inline)) bool
is_whole(uint32_t id, struct new_frame *frames, const struct new_frame *f,
	 uint32_t outer)
{
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

/* Looks the frames up one by one, and makes missing nodes. `hash`: of the stack
 * outward of them. */
static __attribute__((noinline)) void
find_each(const struct context_table *table, struct new_frame *frames,
	  struct new_frame *f, uint32_t outer, uint64_t hash)
{
	struct new_frame *g;
	uint64_t inner = hash;

	for (g = f; g-- > frames;) {
		inner = context_hash(inner, g->ra);
		context_prefetch(table, inner);
	}
	for (g = f; g-- > frames;) {
		hash = context_hash(hash, g->ra);
		outer = g->context = context_child(outer, g->ra, hash, true);
	}
}

/* Finds the contexts of the new frames, given the outermost one's caller and
 * the hash of its stack. */
static inline __attribute__((always_inline)) void
find_contexts(const struct context_table *table, struct new_frame *frames,
	      struct new_frame *f, uint32_t outer, uint64_t hash)
{
	uint64_t whole = hash;
	struct new_frame *g;

	for (g = f; g-- > frames;)
		whole = context_hash(whole, g->ra);
	if (!is_whole(context_guess(table, whole, frames->ra), frames, f,
		      outer))
		find_each(table, frames, f, outer, hash);
}

/* Makes frames[0] … f[-1], innermost first, the shadow's part inward of j;
 * returns the innermost one's context. */
static inline __attribute__((always_inline)) uint32_t
append(struct capture_thread *t, struct shadow_frame *j,
       const struct new_frame *frames, const struct new_frame *f)
{
	struct shadow_word *w = t->words + j->word;
	uint64_t hash = j->hash;
	uint32_t word = j->word;
	uint32_t flags = ARCH_FP_LASTS ? j->flags & FRAME_FP : 0;
	uintptr_t fp = j->fp;

	DEBUG_ASSERT(j > t->frames && j < t->frames + t->count);
	DEBUG_ASSERT(f >= frames && f <= frames + NEW_MAX);
	t->report->counts.frames_walked += (uint32_t)(f - frames) + 1;
	t->report->counts.tier_join++;
	t->report->barriers_met += t->barrier_count != 0;
	t->joined = t->walked = (uint32_t)(f - frames);
	t->redrawn = t->predicted_far = 0;
	while (f-- > frames) {
		j++;
		w++;
		word++;
		hash = context_hash(hash, f->ra);
		j->slot = w->at = f->slot;
		j->raw = w->value = new_frame_raw(f);
		shadow_frame_set_sp(j, new_frame_sp(f));
		j->hash = hash;
		j->mark = f->context;
		j->word = word;
		if (ARCH_FP_LASTS)
			j->fp = fp;
		j->flags = flags;
	}
	t->word_count = word + 1;
	t->count = (uint32_t)(j - t->frames) + 1;
	DEBUG_ASSERT(t->count <= t->capacity &&
		     t->word_count <= 2 * t->capacity);
	DEBUG_ASSERT(shadow_is_valid(t));
	return (uint32_t)j->mark;
}

/* The walk is at frame j of the shadow, with n new frames inward of it; like
 * join(), but the compiler knows n. */
static inline __attribute__((always_inline)) uint32_t
join_few(struct capture_thread *t, struct shadow_frame *j,
	 const struct new_place *at, struct new_frame *frames, uint32_t n)
{
	uint32_t outer = (uint32_t)j->mark, barriers = outer_barriers(t, j);
	uint64_t hash = j->hash;
	struct prediction e;

	if (n > 1)
		hash = context_hash(hash, frames[1].ra);
	hash = context_hash(hash, frames->ra);
	predict_inner(&e, hash);
	if (__builtin_expect(!e.context, 0))
		context_prefetch(context_newest(), hash);
	if (!has_fp_of(at, j) || !shadow_holds(t, j, barriers))
		return 0;
	t->barrier_count = barriers;
	if (__builtin_expect(!is_whole(e.context, frames, frames + n, outer),
			     0)) {
		find_each(context_newest(), frames, frames + n, outer, j->hash);
		predict_learn(&e, frames->context);
	}
	return append(t, j, frames, frames + n);
}

/* Steps outward from the new frame in the slot. False: its rule is not
 * plain. */
static inline __attribute__((always_inline)) bool
step_new(const struct capture_thread *t, struct new_frame *f,
	 struct new_place *at, uintptr_t *ra)
{
	uint32_t rule = rule_of(rule_cache, *ra);
	uintptr_t size = rule_size(rule) * ARCH_RULE_UNIT, sp = at->link.sp;

	new_frame_set(f, at, *ra);
	at->rules |= rule;
	at->link.sp = sp + size;
	at->slot = ARCH_LINK_REGISTER ? arch_rule_slot(sp, sp + size, rule) :
					at->slot + size;
	if (!(rule & WORD_PLAIN) || at->slot >= t->hi)
		return false;
	at->link.raw = *(const uintptr_t *)at->slot;
	*ra = arch_return_address(at->link.raw);
	return true;
}

/* The case that one or two frames replace as many of the shadow's innermost
 * frames, and nothing else has changed. (Two: with an allocator wrapper.) */
static inline __attribute__((always_inline)) uint32_t
replace_inner(struct capture_thread *t, uintptr_t ra, uintptr_t sp,
	      uintptr_t fp)
{
	struct shadow_frame *j = t->frames + t->count - 2;
	struct new_frame frames[2];
	struct new_place at = { sp + ARCH_RA_OFFSET, { sp, ra }, 0, fp };

	if (t->count < 4 || !step_new(t, frames, &at, &ra))
		return 0;
	if (at.slot == j->slot && stands_at(&at, ra, j))
		return join_few(t, j, &at, frames, 1);
	if (!step_new(t, frames + 1, &at, &ra) || at.slot != j[-1].slot ||
	    !stands_at(&at, ra, &j[-1]))
		return 0;
	return join_few(t, j - 1, &at, frames, 2);
}

/* The state of a capture. */
struct joining {
	struct prediction prediction;
	struct new_frame frames[NEW_MAX];
};

/* The third return address is known. */
static inline void probe_prediction(const struct capture_thread *t,
				    struct joining *c, uintptr_t third)
{
	predict_probe(&c->prediction, c->frames[0].ra, c->frames[1].ra, third,
		      t->hi + ARCH_RA_OFFSET - c->frames[0].slot);
}

/* Looks the prediction up in steps while the walk continues; f: the frame just
 * added. *pause: the frame of the next step. */
static inline __attribute__((always_inline)) void
pause_at(const struct capture_thread *t, struct joining *c,
	 const struct new_frame *f, const struct new_frame **pause)
{
	if (f == c->frames + PREDICT_FRAMES - 1) {
		probe_prediction(t, c, f[-1].ra);
		*pause = c->frames + PREDICT_FRAMES;
	} else {
		predict_find(&c->prediction, f[-1].ra);
		*pause = NULL;
	}
}

/* Like predict_find, if the walk met the shadow before its fourth frame. */
static inline void find_in_shadow(struct joining *c, const struct new_frame *f,
				  const struct shadow_frame *j)
{
	predict_find(&c->prediction,
		     arch_return_address(j[-(f == c->frames + 2)].raw));
}

/* Finds the contexts of the new frames up to f, inward of frame j. */
static inline __attribute__((always_inline)) void
find_new(struct joining *c, struct new_frame *f, const struct shadow_frame *j)
{
	const struct context_table *table = context_newest();
	uint32_t outer = (uint32_t)j->mark;

	_Static_assert(PREDICT_FRAMES == 4, "what find_in_shadow has");
	if (f == c->frames)
		return;
	if (f < c->frames + PREDICT_FRAMES)
		find_in_shadow(c, f, j);
	if (is_whole(c->prediction.context, c->frames, f, outer))
		return;
	find_contexts(table, c->frames, f, outer, j->hash);
	predict_learn(&c->prediction, c->frames->context);
}

static inline __attribute__((always_inline)) uint32_t
join(struct capture_thread *t, uintptr_t ra, uintptr_t sp, uintptr_t fp)
{
	struct joining c;
	struct new_frame *f = c.frames;
	const struct new_frame *pause = f + PREDICT_FRAMES - 1;
	struct shadow_frame *j = t->frames + t->count - 1;
	_Atomic uint64_t *rules = rule_cache;
	struct new_place at = { sp + ARCH_RA_OFFSET, { sp, ra }, 0, fp };
	uintptr_t hi = t->hi;
	uint32_t barriers;

	DEBUG_ASSERT(t->count > 0 && t->frames[0].slot == UINTPTR_MAX);
	c.prediction.context = 0;
	for (;;) {
		uintptr_t slot = ARCH_LINK_REGISTER ? at.slot :
						      sp + ARCH_RA_OFFSET;
		uintptr_t size, base = sp;
		uint32_t rule;

		j = pass_inner(j, slot);
		if (__builtin_expect(j->slot <= slot, 0)) {
			while (j->slot < slot)
				j--;
			if (j->slot == slot && stands_at(&at, ra, j))
				break;
		}
		rule = rule_of(rules, ra);
		size = rule_size(rule);
		__asm__("" : "+r"(size));
		sp += size * ARCH_RULE_UNIT;
		if (__builtin_expect(!(rule & WORD_PLAIN), 0))
			return 0;
		/* Keeps the compiler from merging several conditions into
		 * one. */
		__asm__("" : "+r"(sp));
		if (__builtin_expect(sp > hi, 0))
			return 0;
		__asm__("" : "+r"(sp));
		if (__builtin_expect(f == c.frames + NEW_MAX, 0))
			return 0;
		at.slot = slot;
		at.rules |= rule;
		new_frame_set(f, &at, ra);
		f++;
		at.slot = arch_rule_slot(base, sp, rule);
		at.link = (struct frame_link){
			sp, *(const uintptr_t *)at.slot
		};
		ra = arch_return_address(at.link.raw);
		if (__builtin_expect(f == pause, 0))
			pause_at(t, &c, f, &pause);
	}
	if (!has_fp_of(&at, j) ||
	    j >= t->frames + t->capacity - NEW_MAX ||
	    j->word >= 2 * t->capacity - NEW_MAX - 1)
		return 0;
	if (f == c.frames + 1)
		return join_few(t, j, &at, c.frames, 1);
	if (f == c.frames + 2)
		probe_prediction(t, &c, arch_return_address(j->raw));
	barriers = outer_barriers(t, j);
	if (!shadow_holds(t, j, barriers))
		return 0;
	t->barrier_count = barriers;
	find_new(&c, f, j);
	return append(t, j, c.frames, f);
}

static __attribute__((noinline)) uint32_t
join_and_remember(struct capture_thread *t, uintptr_t ra, uintptr_t sp,
		  uintptr_t fp)
{
	uint32_t context = join(t, ra, sp, fp);

	if (__builtin_expect(context != 0, 1))
		join_remember(t, ra, sp, context);
	return context;
}

static inline __attribute__((always_inline)) uint32_t
replace_and_remember(struct capture_thread *t, uintptr_t ra, uintptr_t sp,
		     uintptr_t fp)
{
	uint32_t context = replace_inner(t, ra, sp, fp);

	if (context)
		join_remember(t, ra, sp, context);
	return context;
}

uint32_t join_capture(struct capture_thread *t, uintptr_t ra, uintptr_t sp,
		      uintptr_t fp)
{
	uint32_t context = replace_and_remember(t, ra, sp, fp);

	return context ? context : join_and_remember(t, ra, sp, fp);
}

/* Captures that no quick path answers. (A function of its own, as it keeps many
 * registers.) */
static __attribute__((noinline)) uint32_t
walk_slow(struct capture_thread *t, uintptr_t ra, uintptr_t sp, uintptr_t fp)
{
	struct first_walk first;
	/* if many frames changed last time, many will again */
	bool first_of_all = t->joined > PREDICT_FRAMES ||
			    t->redrawn >= PREDICT_REDRAWN;
	uint32_t context = 0;

	if (first_of_all)
		context = capture_expected(t, ra, sp, fp, &first);
	if (!context)
		context = join_and_remember(t, ra, sp, fp);
	if (__builtin_expect(context != 0, 1))
		return context;
	return capture_rare(t, ra, sp, fp);
}

uint32_t capture_slow(struct capture_thread *t, uintptr_t ra, uintptr_t sp,
		      uintptr_t fp)
{
	/* Pairs with the increment before the loader is entered. */
	uint32_t generation = atomic_load_explicit(&image_generation,
						   memory_order_acquire);
	uint32_t context;

	if (__builtin_expect(t->fast != generation || !t->joins ||
				     sp - t->lo >= t->hi - t->lo, 0))
		return capture_rare(t, ra, sp, fp);
	/* I1 of capture.c */
	DEBUG_ASSERT(t->generation == generation);
	context = replace_and_remember(t, ra, sp, fp);
	return context ? context : walk_slow(t, ra, sp, fp);
}
