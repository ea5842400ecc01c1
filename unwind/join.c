/*
 * join.c: walk, compare and update in one go, for the captures that neither
 * hit a path nor need anything special: few new frames, all by "CFA = sp +
 * offset", then a frame of the shadow.
 *
 * It does what walk_fast, shadow_validate and shadow_update do together (their
 * invariants hold here, too), without their generality. What it cannot do it
 * leaves to them, untouched. The new frames' contexts are looked for among what
 * was met lately (expect.h), whose place is on its way meanwhile; in the index
 * only where they are not there.
 *
 * I1  The shadow does not change before its whole outer part is known to
 *     hold.
 *
 * Thread context: the thread that owns the state; not reentrant.
 */
#include "unwind/capture_fast.h"
#include "unwind/claim.h"
#include "unwind/context.h"
#include "unwind/expect.h"
#include "unwind/join.h"
#include "unwind/rule_cache.h"
#include "unwind/shadow.h"

#define NEW_MAX FRAMES_SPARE	/* more are not worth a hurry */

struct new_frame {
	uintptr_t slot, ra;
	uint32_t context;
#if ARCH_LINK_REGISTER
	struct frame_link link;
#endif
};

/* Where a walk has come to: the stack pointer, and what is in the slot of the
 * frame there. Without a link register only one of them has to be known. */
struct new_place {
	uintptr_t slot;
	struct frame_link link;
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

/* What the slot of a new frame holds. */
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

/* Whether the walk stands at a frame of the shadow, in whose slot it is. */
static inline __attribute__((always_inline)) bool
stands_at(const struct new_place *at, uintptr_t ra,
	  const struct shadow_frame *j)
{
	return (ARCH_LINK_REGISTER ? at->link.raw : ra) == j->raw &&
	       shadow_frame_leaves(j, at->link.sp);
}

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

/* How many barriers lie at frame j or further out. Those further in are not on
 * the way any more. */
static inline uint32_t outer_barriers(const struct capture_thread *t,
				      const struct shadow_frame *j)
{
	uint32_t n = t->barrier_count, at = (uint32_t)(j - t->frames);

	while (n && __builtin_expect(t->barrier[n - 1] > at, 0))
		n--;
	return n;
}

/* Whether frame j and all outward of it hold (shadow.c, I3 and I4), of which
 * so many are barriers. */
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
	CLAIM_FULL(from <= j && from->word <= j->word);
	return words_stand(t->words + from->word, t->words + j->word);
}

/* j, or the next frame outward that does not lie inward of the slot, of four;
 * no branch, and no load waits for another. */
static inline struct shadow_frame *pass_inner(struct shadow_frame *j,
					     uintptr_t slot)
{
	return j - ((j[0].slot < slot) + (j[-1].slot < slot) +
		    (j[-2].slot < slot) + (j[-3].slot < slot));
}

/* Whether frames[0] … f[-1], innermost first, whose outermost one was called
 * in `outer`, are the stack of this context; then theirs are known. */
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

/* The same, one after the other; what is not there is made. `hash`: of the
 * stack outward of them. */
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

/* The contexts of the new frames, that of the outermost one's caller and the
 * hash of its stack being known. */
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

/* frames[0] … f[-1], innermost first, become the shadow's part inward of j;
 * the innermost one's context is the answer. */
static inline __attribute__((always_inline)) uint32_t
append(struct capture_thread *t, struct shadow_frame *j,
       const struct new_frame *frames, const struct new_frame *f)
{
	struct shadow_word *w = t->words + j->word;
	uint64_t hash = j->hash;
	uint32_t word = j->word;

	CLAIM_FULL(j > t->frames && j < t->frames + t->count);
	CLAIM_FULL(f >= frames && f <= frames + NEW_MAX);
	t->report->counts.frames_walked += (uint32_t)(f - frames) + 1;
	t->report->counts.tier_join++;
	t->report->barriers_met += t->barrier_count != 0;
	t->joined = t->walked = (uint32_t)(f - frames);
	t->redrawn = t->expected_far = 0;
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
		j->flags = 0;
	}
	t->word_count = word + 1;
	t->count = (uint32_t)(j - t->frames) + 1;
	CLAIM_FULL(t->count <= t->capacity && t->word_count <= 2 * t->capacity);
	CLAIM_FULL(shadow_is_valid(t));
	return (uint32_t)j->mark;
}

/* The walk stands at frame j of the shadow, n frames inward of which are new; as
 * in join(), but n is known to the compiler. */
static inline __attribute__((always_inline)) uint32_t
join_few(struct capture_thread *t, struct shadow_frame *j,
	 struct new_frame *frames, uint32_t n)
{
	uint32_t outer = (uint32_t)j->mark, barriers = outer_barriers(t, j);
	uint64_t hash = j->hash;
	struct expectation e;

	if (n > 1)
		hash = context_hash(hash, frames[1].ra);
	hash = context_hash(hash, frames->ra);
	expect_inner(&e, hash);
	if (__builtin_expect(!e.context, 0))
		context_prefetch(context_newest(), hash);
	if (j->flags & FRAME_FP || !shadow_holds(t, j, barriers))
		return 0;
	t->barrier_count = barriers;
	if (__builtin_expect(!is_whole(e.context, frames, frames + n, outer),
			     0)) {
		find_each(context_newest(), frames, frames + n, outer, j->hash);
		expect_learn(&e, frames->context);
	}
	return append(t, j, frames, frames + n);
}

/* Goes outward from the new frame in the slot. False: its rule is not plain. */
static inline __attribute__((always_inline)) bool
step_new(const struct capture_thread *t, struct new_frame *f,
	 struct new_place *at, uintptr_t *ra)
{
	uint32_t rule = rule_of(rule_cache, *ra);
	uintptr_t size = rule_size(rule) * ARCH_RULE_UNIT, sp = at->link.sp;

	new_frame_set(f, at, *ra);
	at->link.sp = sp + size;
	at->slot = ARCH_LINK_REGISTER ? arch_rule_slot(sp, sp + size, rule) :
					at->slot + size;
	if (!(rule & WORD_PLAIN) || at->slot >= t->hi)
		return false;
	at->link.raw = *(const uintptr_t *)at->slot;
	*ra = arch_return_address(at->link.raw);
	return true;
}

/* Where one or two frames take the place of as many of the shadow's innermost,
 * and nothing else has changed. (Two: through a wrapper.) */
static inline __attribute__((always_inline)) uint32_t
replace_inner(struct capture_thread *t, uintptr_t ra, uintptr_t sp)
{
	struct shadow_frame *j = t->frames + t->count - 2;
	struct new_frame frames[2];
	struct new_place at = { sp + ARCH_RA_OFFSET, { sp, ra } };

	if (t->count < 4 || !step_new(t, frames, &at, &ra))
		return 0;
	if (at.slot == j->slot && stands_at(&at, ra, j))
		return join_few(t, j, frames, 1);
	if (!step_new(t, frames + 1, &at, &ra) || at.slot != j[-1].slot ||
	    !stands_at(&at, ra, &j[-1]))
		return 0;
	return join_few(t, j - 1, frames, 2);
}

/* A capture under way. */
struct joining {
	struct expectation expectation;
	struct new_frame frames[NEW_MAX];
};

/* The third return address is known. */
static inline void look(const struct capture_thread *t, struct joining *c,
			uintptr_t third)
{
	expect_look(&c->expectation, c->frames[0].ra, c->frames[1].ra, third,
		    t->hi + ARCH_RA_OFFSET - c->frames[0].slot);
}

/* What is expected is looked up while the walk goes on behind new frame f.
 * *pause: where it is interrupted next. */
static inline __attribute__((always_inline)) void
pause_at(const struct capture_thread *t, struct joining *c,
	 const struct new_frame *f, const struct new_frame **pause)
{
	if (f == c->frames + EXPECT_FRAMES - 1) {
		look(t, c, f[-1].ra);
		*pause = c->frames + EXPECT_FRAMES;
	} else {
		expect_find(&c->expectation, f[-1].ra);
		*pause = NULL;
	}
}

/* As expect_find, where the walk met the shadow before its fourth frame. */
static inline void find_in_shadow(struct joining *c, const struct new_frame *f,
				  const struct shadow_frame *j)
{
	expect_find(&c->expectation,
		    arch_return_address(j[-(f == c->frames + 2)].raw));
}

/* The contexts of the new frames up to f, inward of frame j. */
static inline __attribute__((always_inline)) void
find_new(struct joining *c, struct new_frame *f, const struct shadow_frame *j)
{
	const struct context_table *table = context_newest();
	uint32_t outer = (uint32_t)j->mark;

	_Static_assert(EXPECT_FRAMES == 4, "what find_in_shadow has");
	if (f == c->frames)
		return;
	if (f < c->frames + EXPECT_FRAMES)
		find_in_shadow(c, f, j);
	if (is_whole(c->expectation.context, c->frames, f, outer))
		return;
	find_contexts(table, c->frames, f, outer, j->hash);
	expect_learn(&c->expectation, c->frames->context);
}

static inline __attribute__((always_inline)) uint32_t
join(struct capture_thread *t, uintptr_t ra, uintptr_t sp)
{
	struct joining c;
	struct new_frame *f = c.frames;
	const struct new_frame *pause = f + EXPECT_FRAMES - 1;
	struct shadow_frame *j = t->frames + t->count - 1;
	_Atomic uint64_t *rules = rule_cache;
	struct new_place at = { sp + ARCH_RA_OFFSET, { sp, ra } };
	uintptr_t hi = t->hi;
	uint32_t barriers;

	CLAIM_FULL(t->count > 0 && t->frames[0].slot == UINTPTR_MAX);
	c.expectation.context = 0;
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
		/* Or the compiler makes one condition of several. */
		__asm__("" : "+r"(sp));
		if (__builtin_expect(sp > hi, 0))
			return 0;
		__asm__("" : "+r"(sp));
		if (__builtin_expect(f == c.frames + NEW_MAX, 0))
			return 0;
		at.slot = slot;
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
	if (j->flags & FRAME_FP ||
	    j >= t->frames + t->capacity - NEW_MAX ||
	    j->word >= 2 * t->capacity - NEW_MAX - 1)
		return 0;
	if (f == c.frames + 1)
		return join_few(t, j, c.frames, 1);
	if (f == c.frames + 2)
		look(t, &c, arch_return_address(j->raw));
	barriers = outer_barriers(t, j);
	if (!shadow_holds(t, j, barriers))
		return 0;
	t->barrier_count = barriers;
	find_new(&c, f, j);
	return append(t, j, c.frames, f);
}

static __attribute__((noinline)) uint32_t
join_and_remember(struct capture_thread *t, uintptr_t ra, uintptr_t sp)
{
	uint32_t context = join(t, ra, sp);

	if (__builtin_expect(context != 0, 1))
		join_remember(t, ra, sp, context);
	return context;
}

static inline __attribute__((always_inline)) uint32_t
replace_and_remember(struct capture_thread *t, uintptr_t ra, uintptr_t sp)
{
	uint32_t context = replace_inner(t, ra, sp);

	if (context)
		join_remember(t, ra, sp, context);
	return context;
}

uint32_t join_capture(struct capture_thread *t, uintptr_t ra, uintptr_t sp)
{
	uint32_t context = replace_and_remember(t, ra, sp);

	return context ? context : join_and_remember(t, ra, sp);
}

/* Those that a wrapper's path does not answer. (Apart, as it keeps many
 * registers.) */
static __attribute__((noinline)) uint32_t
walk_slow(struct capture_thread *t, uintptr_t ra, uintptr_t sp, uintptr_t fp)
{
	struct first_walk first;
	/* where many frames change, they do so again */
	bool first_of_all = t->joined > EXPECT_FRAMES ||
			    t->redrawn >= EXPECT_REDRAWN;
	uint32_t context = 0;

	if (first_of_all)
		context = capture_expected(t, ra, sp, fp, &first);
	if (!context)
		context = join_and_remember(t, ra, sp);
	if (__builtin_expect(context != 0, 1))
		return context;
	return capture_rare(t, ra, sp, fp);
}

uint32_t capture_slow(struct capture_thread *t, uintptr_t ra, uintptr_t sp,
		      uintptr_t fp)
{
	/* Pairs with the increment before the loader is entered. */
	uint32_t generation = atomic_load_explicit(&capture_generation,
						   memory_order_acquire);
	uint32_t context;

	if (__builtin_expect(t->fast != generation || !t->joins ||
				     sp - t->lo >= t->hi - t->lo, 0))
		return capture_rare(t, ra, sp, fp);
	/* I1 of capture.c */
	CLAIM_FULL(t->generation == generation);
	context = replace_and_remember(t, ra, sp);
	return context ? context : walk_slow(t, ra, sp, fp);
}
