/*
 * walk.c: the fast walk, which most captures use: it tracks pc, sp and fp.
 *
 * The frame pointer is read lazily: the walk notes where it was saved, and
 * reads the word (on which the remembered stack then depends) only when a rule
 * further out needs it.
 *
 * I1  Every word that the walk used is in scratch: as a frame's slot, its
 *     fp_at, or a FRAME_WORD entry.
 * I2  Slots increase from entry to entry, and a frame's fp_at lies between its
 *     own slot and the next one inward; otherwise the walk is not remembered.
 * I3  On architectures that analyse code, a frame pointer in code without a
 *     table may belong to a function further out, unless calls push and no
 *     return address lies before it (which depends on the code there, not on
 *     the stack). A walk that used such a frame pointer does not count as
 *     complete, joins nothing, and is not remembered. Its stack pointer may be
 *     another frame's: from there on each step must lead to an address to which
 *     a frame may return.
 *
 * Thread context: any; scratch belongs to the calling thread.
 */
#include <stdatomic.h>
#include <stddef.h>

#include "signal_frame.h"
#include "unwind/barrier.h"
#include "unwind/base/assertion.h"
#include "unwind/image/image.h"
#include "unwind/image/jit.h"
#include "unwind/rule_cache.h"
#include "unwind/rules/prologue.h"
#include "unwind/rules/rule_dictionary.h"
#include "unwind/rules/rules_image.h"
#include "unwind/shadow.h"
#include "unwind/walk_plausible.h"

_Atomic uint64_t *rule_cache;
static uintptr_t stack_end;

bool walk_at_stack_end(uintptr_t sp)
{
	return sp <= stack_end && stack_end - sp < ARCH_START_BYTES;
}

int walk_init(uintptr_t end)
{
	stack_end = end;
	rule_cache = unwind_alloc(2 * sizeof(*rule_cache) << INDEX_BITS);
	return rule_cache ? 0 : -12;		/* ENOMEM */
}

void walk_flush(void)
{
	uint32_t i;

	for (i = 0; i < 2 * (INDEX_MASK + 1); i++)
		atomic_store_explicit(&rule_cache[i], 0, memory_order_relaxed);
	walk_plausible_flush();
}

static uint32_t rule_payload(uint16_t id)
{
	struct rule r = rules_dictionary[id];
	uint32_t word;

	DEBUG_ASSERT(id < rules_count());
	if (id && r.kind == RULE_FRAME &&
	    arch_rule_word(r.cfa_off, r.fp_off, r.ra, r.signs, &word))
		return word | (r.base == RULE_BASE_FP ? WORD_FP : WORD_PLAIN);
	return id;
}

/*
 * The image of a pc whose rule is not cached. An image that was loaded late may
 * have been unmapped since, and replaced unseen by our hooks: code not met
 * before is the moment to check.
 */
static const struct image *find_image(uintptr_t pc)
{
	const struct image *image = image_find(pc);
	bool changed;

	if (!image || !(image->public->flags & GT_IMAGE_LATE) ||
	    !image_list_is_stale())
		return image;
	if (!image_refresh(&changed))
		return NULL;
	return changed ? image_find(pc) : image;
}

/* The rule from tables registered at run time, or from the code itself. It is
 * not cached if it may disappear without notice, or if an image may be mapped
 * at the address later. */
static uint32_t rule_at_run_time(uintptr_t ra, struct rules_image *rules,
				 bool in_image, bool *constant)
{
	bool known;
	uint16_t id = jit_find(ra - 1, &known);

	if (id) {
		*constant = known;
		return rule_payload(id);
	}
	if (ARCH_SIGNAL_CODE && walk_is_signal_return(ra))
		return rule_dictionary_id((struct rule){ .kind = RULE_SIGNAL });
	if (rules)
		return rule_payload(prologue_find(rules, ra));
	return in_image ? 0 : WORD_NO_IMAGE;
}

uint32_t rule_cache_miss(uintptr_t ra, _Atomic uint64_t *at)
{
	struct rules_image borrowed, *rules = NULL;
	const struct image *image;
	bool constant;
	uint64_t high = rule_key(ra) >> INDEX_BITS;
	uint32_t payload;
	uint16_t id = 0;

	if (barrier_in_stubs(ra))
		return WORD_STUB;
	image = find_image(ra - 1);
	constant = image != NULL;
	if (image)
		rules = image_rules(image);
	else if (image_borrow(ra - 1, &borrowed))
		rules = &borrowed;
	if (rules)
		id = rules_find(rules, ra - 1);
	/* No call precedes a function's first byte: its address was pushed as a
	 * return address (by makecontext, for example), where a stack
	 * begins. */
	if (!id && rules && rules_find(rules, ra) && !prologue_find(rules, ra))
		payload = WORD_END;
	else
		payload = id ? rule_payload(id) :
			       rule_at_run_time(ra, rules, image || rules,
						&constant);
	if (!constant)
		return payload;
	DEBUG_ASSERT(!(payload & ~PAYLOAD_MASK) && payload != WORD_JOIN);
	DEBUG_ASSERT(!(payload & WORD_PLAIN) || !(payload & WORD_FP));
	DEBUG_ASSERT((size_t)(at - rule_cache) <= INDEX_MASK);
	/* The new word goes first; the set's second word is evicted. */
	atomic_store_explicit(&at[INDEX_MASK + 1],
			      atomic_load_explicit(at, memory_order_relaxed),
			      memory_order_relaxed);
	atomic_store_explicit(at, high << HIGH_SHIFT | payload,
			      memory_order_relaxed);
	return payload;
}

/* The state of a walk for the rarer steps; walk_fast keeps most of it in
 * registers. */
struct state {
	struct stack_reader reader;
	struct frame *top;	/* the newest entry of scratch */
	struct frame *fp_from;	/* the entry at which fp was loaded */
	struct shadow_frame *join;	/* the next frame outward */
	uintptr_t sp, ra;
	uintptr_t raw;		/* the word in the newest frame's slot */
	uintptr_t fp;		/* valid if fp_at is 0 */
	uintptr_t fp_at;	/* otherwise its address */
	struct shadow_frame *validated;	/* the shadow is unchanged from here
					 * inward to the compared frame; NULL:
					 * not compared yet */
	bool needs_full, joined;
	bool forget;
	enum gt_mode_why forbidden_why;	/* as in struct walk */
	bool guessed;		/* I3 */
};

/* Reads the frame pointer, which is needed now, and makes the entries since it
 * was saved depend on it (I1). */
static bool use_fp(struct state *s)
{
	struct frame *from = s->fp_from, *f;

	DEBUG_ASSERT(from <= s->top);
	if (s->fp_at) {
		if (!stack_read(&s->reader, s->fp_at, &s->fp)) {
			s->forget = true;
			return false;
		}
		from->fp_at = s->fp_at;
		from->flags |= FRAME_FP_AT;
		/* outside its own frame: as in push_word */
		if (s->fp_at >= from->slot || s->fp_at <= from[-1].slot)
			s->forget = true;
		s->fp_at = 0;
	}
	for (f = s->top; f >= from && !(f->flags & FRAME_FP); f--) {
		f->fp = s->fp;
		f->flags |= FRAME_FP;
	}
	return true;
}

/* link: its stack pointer, and the word in the slot. */
static inline __attribute__((always_inline)) void
frame_set(struct frame *f, uintptr_t slot, uintptr_t ra,
	  struct frame_link link)
{
	f->slot = slot;
	f->ra = ra;
	f->flags = 0;
#if ARCH_LINK_REGISTER
	f->link = link;
#else
	(void)link;
#endif
}

static void push_word(struct state *s, uintptr_t at, uintptr_t value)
{
	struct frame *f = s->top + 1;

	if (at <= s->top->slot)
		s->forget = true;	/* I2 would not hold */
	frame_set(f, at, value, (struct frame_link){ 0, value });
	f->flags = FRAME_WORD | FRAME_FP;
	f->fp = s->fp;
	s->top = f;
}

/* Whether a frame from the code analysis is plausible. False: unknown. */
static bool frame_is_plausible(struct state *s, uintptr_t cfa, uintptr_t slot,
			       uintptr_t *fp_at)
{
	uintptr_t ra;

	if (cfa > s->sp && stack_read(&s->reader, slot, &ra) &&
	    walk_code_is_plausible(cfa, arch_return_address(ra)))
		return true;
	s->forget = true;	/* depends on a word that is not in scratch
				 * (I1) */
	*fp_at = 0;
	return false;
}

/* A step by the result of the code analysis. */
static bool step_by_code(struct state *s, const struct rule *r, uintptr_t *cfa,
			 uintptr_t *slot, uintptr_t *fp_at)
{
	if (r->base == RULE_BASE_FP && !use_fp(s))
		return false;
	*cfa = (r->base == RULE_BASE_FP ? s->fp : s->sp) +
	       (uintptr_t)(intptr_t)r->cfa_off;
	*slot = *cfa + (uintptr_t)arch_rule_ra_offset(r->fp_off, r->ra);
	*fp_at = r->fp_off ? *cfa + (uintptr_t)(r->fp_off * ARCH_WORD) : 0;
	return frame_is_plausible(s, *cfa, *slot, fp_at);
}

/* A step over a frame whose CFA is a word of the frame. False: it cannot be
 * read. */
static bool step_by_word(struct state *s, const struct rule *r, uintptr_t *cfa,
			 uintptr_t *slot, uintptr_t *fp_at)
{
	uintptr_t word;

	if (!use_fp(s))
		return false;
	word = s->fp + (uintptr_t)(intptr_t)r->cfa_off;
	if (!stack_read(&s->reader, word, cfa)) {
		s->forget = true;
		return false;
	}
	push_word(s, word, *cfa);
	*slot = *cfa + ARCH_RA_OFFSET;
	*fp_at = s->fp + (uintptr_t)(r->fp_off * ARCH_WORD);
	return true;
}

/* I3: from here on the next shadow frame outward is the sentinel, so that
 * nothing is joined. */
static void stop_joining(struct state *s)
{
	while (s->join->slot != UINTPTR_MAX)
		s->join--;
	s->guessed = s->forget = true;
}

/*
 * Steps by rules that do not fit into a word, and in code without a rule.
 * GT_STOP_BOTTOM: continue; the frame ends at *cfa and returns by *slot, and if
 * *fp_at is not 0, the caller's fp was saved there. *needs_full: use walk_full.
 */
static enum gt_stop step_by_rule(struct state *s, uint32_t payload,
				 uintptr_t ra, uintptr_t *cfa, uintptr_t *slot,
				 uintptr_t *fp_at, bool *needs_full)
{
	const struct rule *r = &rules_dictionary[payload & WORD_ID];

	DEBUG_ASSERT((payload & WORD_ID) < rules_count());
	DEBUG_ASSERT(!(payload &
		       (WORD_PLAIN | WORD_FP | WORD_STUB | WORD_JOIN)));
	*fp_at = 0;
	switch (r->kind) {
	case RULE_FRAME:
		if (r->base == RULE_BASE_FP && !use_fp(s))
			return GT_STOP_BAD_READ;
		*cfa = (r->base == RULE_BASE_FP ? s->fp : s->sp) +
		       (uintptr_t)(intptr_t)r->cfa_off;
		if (r->fp_off)
			*fp_at = *cfa + (uintptr_t)(r->fp_off * ARCH_WORD);
		*slot = *cfa + (uintptr_t)arch_rule_ra_offset(r->fp_off,
							      r->ra);
		return GT_STOP_BOTTOM;
	case RULE_PLT:
		*cfa = s->sp + (uintptr_t)(intptr_t)r->cfa_off +
		       arch_plt_pushed(ra - 1);
		*slot = *cfa + ARCH_RA_OFFSET;
		return GT_STOP_BOTTOM;
	case RULE_DEREF:
		return step_by_word(s, r, cfa, slot, fp_at) ?
			       GT_STOP_BOTTOM : GT_STOP_BAD_READ;
	case RULE_CODE:
	case RULE_CODE_DEREF:
		if (!ARCH_DECODES_BACK)
			s->forbidden_why = GT_WHY_CODE;
		if (r->kind == RULE_CODE ?
			    step_by_code(s, r, cfa, slot, fp_at) :
			    step_by_word(s, r, cfa, slot, fp_at) &&
				    *cfa > s->fp &&
				    frame_is_plausible(s, *cfa, *slot, fp_at))
			return GT_STOP_BOTTOM;
		/* fall through */
	case RULE_NONE:
		if (!use_fp(s) ||
		    !walk_fp_is_plausible(&s->reader, s->sp, s->fp, cfa))
			return payload & WORD_NO_IMAGE ?
				       walk_stop_nowhere(ra, false) :
				       GT_STOP_NO_RULE;
		s->forbidden_why = payload & WORD_NO_IMAGE ? GT_WHY_RUNTIME :
							     GT_WHY_CODE;
		if (ARCH_DECODES && !(payload & WORD_NO_IMAGE) &&
		    walk_fp_may_skip_frames(&s->reader, ra, s->sp, s->fp))
			stop_joining(s);
		*fp_at = *cfa - 2 * ARCH_WORD;
		*slot = *cfa - ARCH_WORD;
		return GT_STOP_BOTTOM;
	case RULE_BAD:
		return GT_STOP_BAD_TABLE;
	default:
		*needs_full = true;
		return GT_STOP_BOTTOM;
	}
}

bool rule_is_outermost(uint32_t payload, uintptr_t sp)
{
	unsigned kind = rules_dictionary[payload & WORD_ID].kind;

	return payload & WORD_END || kind == RULE_END ||
	       ((kind == RULE_NONE || kind == RULE_CODE ||
		 kind == RULE_CODE_DEREF) &&
		walk_at_stack_end(sp));
}

/* Whether the walk, whose newest entry is in the slot of the shadow's frame j,
 * would continue as the shadow does. */
static inline bool same_fp(struct state *s, const struct shadow_frame *j)
{
	if (__builtin_expect(!(j->flags & FRAME_FP), 1))
		return true;
	return use_fp(s) && s->fp == j->fp;
}

/*
 * The walk is at the slot of *join with the same word in it. Whether that frame
 * and all outward of it are unchanged; prefetches the new frames' contexts
 * meanwhile.
 *
 * An earlier comparison counts only up to the barrier it began with: a walk
 * that has passed the barrier's slot without arriving there has shown that the
 * stub is a remnant.
 */
static inline bool try_join(struct capture_thread *t, struct state *s)
{
	struct shadow_frame *j = s->join;

	DEBUG_ASSERT(j->slot == s->top->slot && j->raw == s->raw);
	if (!same_fp(s, j))
		return false;
	shadow_hash(t->scratch, s->top, j->hash);
	if (!s->validated || j < s->validated) {
		s->join = shadow_validate(t, j);
		s->validated = t->frames;
		if (t->barrier_count)
			s->validated += t->barrier[t->barrier_count - 1];
	}
	DEBUG_ASSERT(s->join <= j);
	return s->joined = s->join == j;
}

/* Grows both arrays, which move, and updates the pointers into them. */
static bool walk_grow(struct capture_thread *t, struct state *s)
{
	ptrdiff_t top = s->top - t->scratch, from = s->fp_from - t->scratch;
	ptrdiff_t at = s->join - t->frames;
	ptrdiff_t validated = s->validated ? s->validated - t->frames : 0;

	if (!stack_grow(t))
		return false;
	if (s->validated)
		s->validated = t->frames + validated;
	s->top = t->scratch + top;
	s->fp_from = t->scratch + from;
	s->join = t->frames + at;
	DEBUG_ASSERT(s->top < t->scratch + t->capacity && s->fp_from <= s->top);
	return true;
}

/* The newest frame's slot holds a stub: the frame returns to the stub's target.
 * Returns the rule there. */
static uint32_t through_stub(struct state *s)
{
	DEBUG_ASSERT(barrier_in_stubs(s->ra));
	s->ra = barrier_origin(s->ra);
	s->top->ra = s->ra;
	s->top->flags |= FRAME_STUB;
	if (barrier_in_stubs(s->ra))	/* an unused stub */
		return WORD_NO_IMAGE;
	return rule_of(rule_cache, s->ra);
}

/* Finds the end of the newest frame by the rule at its return address, and
 * where its caller's fp was saved (0: unchanged). False: the walk is over, or
 * s->needs_full. */
static bool find_cfa(struct state *s, struct walk *w, uint32_t payload,
		     uintptr_t *cfa, uintptr_t *slot, uintptr_t *fp_at)
{
	uintptr_t saved = rule_saved(payload), base;
	enum gt_stop stop;

	DEBUG_ASSERT(!(payload & WORD_PLAIN) || !(payload & WORD_FP));
	if (!(payload & (WORD_PLAIN | WORD_FP))) {
		if (rule_is_outermost(payload, s->sp))
			return false;
		stop = step_by_rule(s, payload, s->ra, cfa, slot, fp_at,
				    &s->needs_full);
		w->stop = s->guessed && stop == GT_STOP_BOTTOM ?
				  GT_STOP_NO_RULE : stop;
		return !s->needs_full && stop == GT_STOP_BOTTOM;
	}
	if (payload & WORD_FP && !use_fp(s)) {
		w->stop = GT_STOP_BAD_READ;
		return false;
	}
	base = payload & WORD_FP ? s->fp : s->sp;
	*cfa = base + rule_size(payload) * ARCH_RULE_UNIT;
	*slot = arch_rule_slot(base, *cfa, payload);
	*fp_at = saved ? arch_rule_fp_at(*cfa, *slot, saved) : 0;
	return true;
}

/*
 * One step of any kind, from the newest frame to the next. False: the walk is
 * over.
 */
static bool step_any(struct capture_thread *t, struct state *s, struct walk *w,
		     uint32_t payload)
{
	uintptr_t cfa, slot = 0, fp_at;

	DEBUG_ASSERT(s->top->ra == s->ra && !(s->top->flags & FRAME_WORD));
	DEBUG_ASSERT(ARCH_LINK_REGISTER ||
		     s->top->slot == s->sp + ARCH_RA_OFFSET);
	if (s->ra == 0) {	/* the outermost frame, without a rule */
		s->top->flags |= FRAME_WORD;
		return false;
	}
	if (rule_key(s->ra) >> INDEX_BITS == 0)	/* an empty word was taken as
						 * its rule */
		payload = WORD_NO_IMAGE;
	if (rule_is_stub(payload))
		payload = through_stub(s);
	if (!find_cfa(s, w, payload, &cfa, &slot, &fp_at))
		return false;
	if (cfa <= s->sp) {
		w->stop = GT_STOP_NO_PROGRESS;
		return false;
	}
	if (!stack_read(&s->reader, slot, &s->raw)) {
		w->stop = GT_STOP_BAD_READ;
		s->forget = true;
		return false;
	}
	if (s->guessed &&
	    !walk_return_is_plausible(arch_return_address(s->raw))) {
		w->stop = GT_STOP_NO_RULE;
		return false;
	}
	if (s->top >= t->scratch + t->capacity - 4 && !walk_grow(t, s)) {
		/* Out of memory: walk_full has room for more frames. */
		s->needs_full = t->capacity < FRAMES_MAX;
		w->stop = GT_STOP_TOO_DEEP;
		return false;
	}
	s->sp = cfa;
	s->ra = arch_return_address(s->raw);
	if (slot <= s->top->slot)
		s->forget = true;	/* I2 would not hold */
	frame_set(++s->top, slot, s->ra,
		  (struct frame_link){ cfa, s->raw });
	DEBUG_ASSERT(s->top < t->scratch + t->capacity);
	if (fp_at) {
		s->fp_at = fp_at;
		s->fp_from = s->top;
	}
	return true;
}

/* Like step_any, until the rules are certain again: not after a guess (I3). */
static __attribute__((noinline)) bool
step_rare(struct capture_thread *t, struct state *s, struct walk *w,
	  uint32_t payload)
{
	while (step_any(t, s, w, payload)) {
		if (!s->guessed)
			return true;
		payload = rule_of(rule_cache, s->ra);
	}
	return false;
}

/*
 * Steps while the rules are "CFA = sp + offset" and the frames are not the
 * shadow's; all in registers. Returns the rule it could not follow; WORD_JOIN
 * at a slot of the shadow.
 */
static inline __attribute__((always_inline)) uint32_t
step_plain(struct capture_thread *t, struct state *s)
{
	const struct frame *last = t->scratch + t->capacity - 4;
	_Atomic uint64_t *words = rule_cache;
	struct shadow_frame *join = s->join;
	struct frame *f = s->top, *fp_from = s->fp_from;
	uintptr_t ra = s->ra, sp = s->sp, fp_at = s->fp_at, hi = s->reader.hi;
	uintptr_t raw = s->raw;
	uint32_t payload;

	for (;;) {
		uintptr_t cfa, slot, saved;

		while (join->slot < f->slot)
			join--;
		if (join->slot == f->slot && join->raw == raw &&
		    shadow_frame_leaves(join, sp)) {
			payload = WORD_JOIN;
			break;
		}
		payload = rule_of(words, ra);
		cfa = sp + rule_size(payload) * ARCH_RULE_UNIT;
		if (__builtin_expect(!(payload & WORD_PLAIN) || cfa > hi ||
					     f >= last, 0))
			break;
		saved = rule_saved(payload);
		slot = arch_rule_slot(sp, cfa, payload);
		sp = cfa;
		raw = *(const uintptr_t *)slot;
		ra = arch_return_address(raw);
		frame_set(++f, slot, ra, (struct frame_link){ sp, raw });
		/* This branch is unpredictable. */
		if (__builtin_expect_with_probability(saved != 0, 1, 0.5))
			fp_at = arch_rule_fp_at(cfa, slot, saved);
		if (__builtin_expect_with_probability(saved != 0, 1, 0.5))
			fp_from = f;
	}
	DEBUG_ASSERT(f < t->scratch + t->capacity && join >= t->frames);
	s->join = join;
	s->top = f;
	s->fp_from = fp_from;
	s->ra = ra;
	s->raw = raw;
	s->sp = sp;
	s->fp_at = fp_at;
	return payload;
}

/* The lower bits of the word for a return address. False: it is not cached, as
 * the rule may change. */
static bool cached_rule(uintptr_t ra, uint32_t *payload)
{
	uintptr_t key = rule_key(ra);
	_Atomic uint64_t *at = &rule_cache[key & INDEX_MASK];
	unsigned way;

	*payload = rule_of(rule_cache, ra) & PAYLOAD_MASK;
	for (way = 0; way < 2; way++, at += INDEX_MASK + 1) {
		uint64_t word = atomic_load_explicit(at, memory_order_relaxed);

		if (word && word >> HIGH_SHIFT == key >> INDEX_BITS)
			return true;
	}
	return false;
}

uint32_t walk_step(uintptr_t ra)
{
	uint32_t payload, size, ra_at, saved;

	if (!rule_cache || !cached_rule(ra, &payload))
		return step_rare_of(STEP_ASK);
	size = (uint32_t)rule_size(payload);
	saved = (uint32_t)rule_saved(payload);
	ra_at = arch_step_ra(payload, size);
	if (!ARCH_LINK_REGISTER && saved)
		saved = saved == 1 ? UINT32_MAX : saved - 1;
	if (payload & WORD_PLAIN && size > 0 && size <= STEP_SIZE_MAX &&
	    ra_at <= STEP_RA_MAX && saved <= STEP_SAVED_MAX)
		return step_plain_of(size, ra_at, saved);
	if (!ARCH_LINK_REGISTER && payload & WORD_FP && size == 2 && saved == 1)
		return step_rare_of(STEP_FP);
	if (!(payload & (WORD_PLAIN | WORD_FP)) &&
	    (payload & WORD_END ||
	     rules_dictionary[payload & WORD_ID].kind == RULE_END))
		return step_rare_of(STEP_END);
	return step_rare_of(STEP_ASK);
}

bool walk_rule_is_plain(uintptr_t ra)
{
	uint32_t rule = rule_of(rule_cache, ra);

	return rule & (WORD_PLAIN | WORD_FP) && !(rule & ARCH_RULE_SIGNS);
}

enum walk_end walk_fast(struct capture_thread *t, struct walk *w)
{
	struct state s;

	DEBUG_ASSERT(!w->base || (w->sp >= t->lo && w->sp < t->hi));
	DEBUG_ASSERT(t->count > 0 && t->frames[0].slot == UINTPTR_MAX);
	s.reader.lo = w->base ? w->sp : 0;
	s.reader.hi = w->base ? t->hi : 0;
	s.reader.page = 0;
	s.top = s.fp_from = t->scratch;
	s.join = t->frames + (w->alone ? 0 : t->count - 1);
	s.sp = w->sp;
	s.ra = s.raw = w->ra;
	s.fp = w->fp;
	s.fp_at = 0;
	s.validated = NULL;
	s.needs_full = s.joined = s.forget = s.guessed = false;
	s.forbidden_why = GT_WHY_DEFAULT;
	w->stop = GT_STOP_BOTTOM;
	frame_set(s.top, s.sp + ARCH_RA_OFFSET, s.ra,
		  (struct frame_link){ s.sp, s.ra });
	for (;;) {
		uint32_t payload = step_plain(t, &s);

		if (payload == WORD_JOIN) {
			if (try_join(t, &s))
				break;
			payload = rule_of(rule_cache, s.ra);
		}
		if (!step_rare(t, &s, w, payload))
			break;
	}
	/* A word that is no return address is no frame; but if it is one next
	 * time, the walk must be repeated. */
	if (w->stop == GT_STOP_NO_IMAGE && s.top > t->scratch)
		s.top->flags |= FRAME_WORD;
	w->join = (uint32_t)(s.join - t->frames);
	w->count = (uint32_t)(s.top - t->scratch) + 1;
	DEBUG_ASSERT(w->count <= t->capacity && w->stop < GT_STOP_COUNT);
	DEBUG_ASSERT(!s.joined || (w->join > 0 && !s.needs_full));
	w->forget = s.forget;
	w->forbidden_why = w->stop == GT_STOP_NO_IMAGE ||
					   w->stop == GT_STOP_JIT ?
				   GT_WHY_RUNTIME : s.forbidden_why;
	if (s.needs_full)
		return WALK_NEEDS_FULL;
	return s.joined ? WALK_JOINED : WALK_ENDED;
}
