/*
 * walk.c: the walk that most captures need, tracking pc, sp and fp.
 *
 * In front of the rule tables stands one process-wide cache of 8-byte words,
 * each read and written whole, in sets of two. A return address of 47 bits is
 * cut into its low INDEX_BITS and the rest; the set is their exclusive or, the
 * rest is stored, so a hit is exact. The word also holds the rule itself, so that one
 * load leads from a return address to the next frame:
 *
 *	63            31 30      22      21   20      13 12        0
 *	+---------------+---+----------+----+----------+------------+
 *	| address >> 14 | 0 |    0     | fp | -fp_off  |  cfa_off   |   words
 *	+---------------+---+----------+----+----------+------------+
 *	| address >> 14 | 1 |    0          | rule id               |
 *	+---------------+---+---------------+-----------------------+
 *
 * The frame pointer is read lazily: where it was saved is noted, and the word
 * is read (and so becomes part of what a remembered stack depends on) only
 * when a rule further out needs it.
 *
 * I1  Every word whose value the walk used is in scratch: as a frame's slot,
 *     its fp_at, or a FRAME_WORD entry.
 * I2  Slots grow from entry to entry.
 *
 * Thread context: any; scratch belongs to the calling thread.
 */
#include <stdatomic.h>
#include <stddef.h>

#include "unwind/image.h"
#include "unwind/jit.h"
#include "unwind/walk.h"

#define INDEX_BITS 14
#define INDEX_MASK ((1u << INDEX_BITS) - 1)
#define HIGH_SHIFT 31
#define WORD_RULE_ID (1u << 30)
#define WORD_END (1u << 16)	/* with WORD_RULE_ID: the outermost frame */
#define WORD_NO_IMAGE (1u << 17)	/* with WORD_RULE_ID */
#define WORD_FP (1u << 21)
#define WORD_FP_SHIFT 13
#define WORD_FP_MAX 0xff
#define WORD_CFA_MAX 0x1fff
/* Stored inverted, so that an empty word belongs to no address. */
#define HIGH_INVERT ((UINT64_C(1) << (64 - HIGH_SHIFT)) - 1)
#define PAYLOAD_MASK ((1u << HIGH_SHIFT) - 1)

static _Atomic uint64_t *cache;
static uintptr_t stack_end;

bool walk_at_stack_end(uintptr_t sp)
{
	return sp <= stack_end && stack_end - sp < 2 * ARCH_WORD;
}

int walk_init(uintptr_t end)
{
	stack_end = end;
	cache = unwind_alloc(2 * sizeof(*cache) << INDEX_BITS);
	return cache ? 0 : -12;		/* ENOMEM */
}

void walk_flush(void)
{
	uint32_t i;

	for (i = 0; i < 2 * (INDEX_MASK + 1); i++)
		atomic_store_explicit(&cache[i], 0, memory_order_relaxed);
}

static uint32_t rule_payload(uint16_t id)
{
	struct rule r = rules_dictionary[id];

	if (id && r.kind == RULE_FRAME && r.cfa_off > 0 &&
	    r.cfa_off % ARCH_WORD == 0 &&
	    r.cfa_off / ARCH_WORD <= WORD_CFA_MAX && r.fp_off <= 0 &&
	    -r.fp_off <= WORD_FP_MAX)
		return (uint32_t)(r.cfa_off / ARCH_WORD) |
		       (uint32_t)-r.fp_off << WORD_FP_SHIFT |
		       (r.base == RULE_BASE_FP ? WORD_FP : 0);
	return WORD_RULE_ID | id;
}

/*
 * The image of a pc whose rule is not cached. If it was loaded late it may
 * have gone in the meantime and something else have come to its place, unseen
 * by our hooks: code that was never met before is when to look.
 */
static const struct image *find_image(uintptr_t pc)
{
	const struct image *image = image_find(pc);
	bool changed;

	if (!image || !(image->public->flags & GT_IMAGE_LATE) ||
	    !image_list_is_stale() || !image_refresh(&changed) || !changed)
		return image;
	return image_find(pc);
}

/* By the tables that were registered at run time. What goes without a word,
 * or may come to an address where nothing is yet, is not cached. */
static uint32_t rule_at_run_time(uintptr_t ra, const struct image *image,
				 bool *constant)
{
	bool known;
	uint16_t id = jit_find(ra - 1, &known);

	if (id) {
		*constant = known;
		return rule_payload(id);
	}
	return image ? WORD_RULE_ID : WORD_RULE_ID | WORD_NO_IMAGE;
}

static __attribute__((noinline)) uint32_t
rule_miss(uintptr_t ra, _Atomic uint64_t *at)
{
	const struct image *image = find_image(ra - 1);
	uint64_t high = ra >> INDEX_BITS ^ HIGH_INVERT;
	bool constant = image != NULL;
	uint32_t payload;
	uint16_t id = 0;

	if (image && image->rules)
		id = rules_find(image->rules, ra - 1);
	/* Nothing was called from before a function's first byte: somebody
	 * pushed its address to be returned to (makecontext, for one), and
	 * the stack was made up from there. */
	if (!id && image && image->rules && rules_find(image->rules, ra))
		payload = WORD_RULE_ID | WORD_END;
	else
		payload = id ? rule_payload(id) :
			       rule_at_run_time(ra, image, &constant);
	if (!constant)
		return payload;
	/* The newer word first; the other of the set is pushed out. */
	atomic_store_explicit(&at[1],
			      atomic_load_explicit(at, memory_order_relaxed),
			      memory_order_relaxed);
	atomic_store_explicit(at, high << HIGH_SHIFT | payload,
			      memory_order_relaxed);
	return payload;
}

static inline uint32_t rule_of(_Atomic uint64_t *words, uintptr_t ra)
{
	uintptr_t high = ra >> INDEX_BITS;
	_Atomic uint64_t *at =
		&words[2 * ((ra ^ high ^ high >> INDEX_BITS) & INDEX_MASK)];
	uint64_t word = atomic_load_explicit(at, memory_order_relaxed);

	high ^= HIGH_INVERT;
	if (__builtin_expect(word >> HIGH_SHIFT == high, 1))
		return word & PAYLOAD_MASK;
	word = atomic_load_explicit(&at[1], memory_order_relaxed);
	if (word >> HIGH_SHIFT == high)
		return word & PAYLOAD_MASK;
	return rule_miss(ra, at);
}

/* A walk under way, as the rarer steps see it; walk_fast keeps most of it in
 * registers. */
struct state {
	struct stack_reader reader;
	struct frame *top;	/* the newest entry of scratch */
	struct frame *fp_from;	/* the entry at which fp was loaded */
	uintptr_t sp;
	uintptr_t fp;		/* valid if fp_at is 0 */
	uintptr_t fp_at;	/* else to be read here */
	bool forget;
};

/* The frame pointer is needed now: read it, and let the entries since it was
 * loaded depend on it (I1). */
static bool use_fp(struct state *s)
{
	struct frame *from = s->fp_from, *f;

	if (s->fp_at) {
		if (!stack_read(&s->reader, s->fp_at, &s->fp)) {
			s->forget = true;
			return false;
		}
		from->fp_at = s->fp_at;
		s->fp_at = 0;
	}
	for (f = s->top; f >= from && !(f->flags & FRAME_FP); f--) {
		f->fp = s->fp;
		f->flags |= FRAME_FP;
	}
	return true;
}

static inline void frame_set(struct frame *f, uintptr_t slot, uintptr_t ra)
{
	f->slot = slot;
	f->ra = ra;
	f->fp_at = 0;
	f->flags = 0;
}

static void push_word(struct state *s, uintptr_t at, uintptr_t value)
{
	struct frame *f = s->top + 1;

	if (at <= s->top->slot)
		s->forget = true;	/* I2 would not hold */
	frame_set(f, at, value);
	f->flags = FRAME_WORD | FRAME_FP;
	f->fp = s->fp;
	s->top = f;
}

/*
 * Rules that do not fit into a word, and code without one. GT_STOP_BOTTOM: go
 * on, the frame ends at *cfa, and if *fp_at is not 0 the caller's fp was saved
 * there. *hard: walk_full must be used.
 */
static enum gt_stop step_by_rule(struct state *s, uint32_t payload,
				 uintptr_t ra, uintptr_t *cfa,
				 uintptr_t *fp_at, bool *hard)
{
	const struct rule *r = &rules_dictionary[payload & 0xffff];
	uintptr_t word;

	*fp_at = 0;
	switch (r->kind) {
	case RULE_FRAME:
		if (r->base == RULE_BASE_FP && !use_fp(s))
			return GT_STOP_BAD_READ;
		*cfa = (r->base == RULE_BASE_FP ? s->fp : s->sp) +
		       (uintptr_t)(intptr_t)r->cfa_off;
		if (r->fp_off)
			*fp_at = *cfa + (uintptr_t)(r->fp_off * ARCH_WORD);
		return GT_STOP_BOTTOM;
	case RULE_PLT:
		*cfa = s->sp + (uintptr_t)(intptr_t)r->cfa_off +
		       (((ra - 1) & 15) >= 11 ? 8 : 0);
		return GT_STOP_BOTTOM;
	case RULE_DEREF:
		if (!use_fp(s))
			return GT_STOP_BAD_READ;
		word = s->fp + (uintptr_t)(intptr_t)r->cfa_off;
		if (!stack_read(&s->reader, word, cfa)) {
			s->forget = true;
			return GT_STOP_BAD_READ;
		}
		push_word(s, word, *cfa);
		*fp_at = s->fp + (uintptr_t)(r->fp_off * ARCH_WORD);
		return GT_STOP_BOTTOM;
	case RULE_NONE:
		if (!use_fp(s) ||
		    !walk_fp_sane(&s->reader, s->sp, s->fp, cfa))
			return payload & WORD_NO_IMAGE ?
				       walk_stop_nowhere(ra, false) :
				       GT_STOP_NO_RULE;
		*fp_at = *cfa - 2 * ARCH_WORD;
		return GT_STOP_BOTTOM;
	case RULE_BAD:
		return GT_STOP_BAD_TABLE;
	default:
		*hard = true;
		return GT_STOP_BOTTOM;
	}
}

/* The outermost frame: its rule says so, or it lies at a made-up start. */
static bool is_end(uint32_t payload, uintptr_t sp)
{
	unsigned kind = rules_dictionary[payload & 0xffff].kind;

	return payload & WORD_END || kind == RULE_END ||
	       (kind == RULE_NONE && walk_at_stack_end(sp));
}

/* Whether the walk, whose newest entry stands in the same slot as frame j of
 * the shadow, would go on as the shadow does. */
static inline bool joins(struct state *s, const struct shadow_frame *j)
{
	if (__builtin_expect(j->flags == 0, 1))
		return true;
	return use_fp(s) && s->fp == j->fp;
}

/* Both arrays move: what points into them follows. */
static bool walk_grow(struct capture_thread *t, struct state *s,
		      const struct shadow_frame **join)
{
	ptrdiff_t top = s->top - t->scratch, from = s->fp_from - t->scratch;
	ptrdiff_t at = *join - t->frames;

	if (!stack_grow(t))
		return false;
	s->top = t->scratch + top;
	s->fp_from = t->scratch + from;
	*join = t->frames + at;
	return true;
}

/* A step that is not "CFA = sp + offset". False: the walk is over, or *hard. */
static __attribute__((noinline)) bool
step_slow(struct state *s, struct walk *w, uint32_t payload, uintptr_t ra,
	  uintptr_t *cfa, uintptr_t *fp_at, bool *hard)
{
	uintptr_t saved = payload >> WORD_FP_SHIFT & WORD_FP_MAX;

	if (!(payload & WORD_RULE_ID)) {
		if (!use_fp(s)) {
			w->stop = GT_STOP_BAD_READ;
			return false;
		}
		*cfa = s->fp + (payload & WORD_CFA_MAX) * ARCH_WORD;
		*fp_at = saved ? *cfa - saved * ARCH_WORD : 0;
	} else {
		if (is_end(payload, s->sp))
			return false;
		w->stop = step_by_rule(s, payload, ra, cfa, fp_at, hard);
		if (*hard || w->stop != GT_STOP_BOTTOM)
			return false;
	}
	if (*cfa <= s->sp)
		w->stop = GT_STOP_NO_PROGRESS;
	return *cfa > s->sp;
}

/* The return address below the CFA. `ra` stays a register of the caller's. */
static inline __attribute__((always_inline)) bool
load_ra(struct state *s, struct walk *w, uintptr_t cfa, uintptr_t hi,
	uintptr_t *ra)
{
	uintptr_t far_ra;

	if (__builtin_expect(cfa <= hi && !(cfa & 7), 1)) {
		*ra = *(const uintptr_t *)(cfa + ARCH_RA_OFFSET);
		return true;
	}
	if (!stack_read_checked(&s->reader, cfa + ARCH_RA_OFFSET, &far_ra)) {
		w->stop = GT_STOP_BAD_READ;
		s->forget = true;
		return false;
	}
	*ra = far_ra;
	return true;
}

enum walk_end walk_fast(struct capture_thread *t, struct walk *w, bool base)
{
	struct state s = { .top = t->scratch,
			   .fp_from = t->scratch,
			   .fp = w->fp,
			   .reader.lo = base ? w->sp : 0,
			   .reader.hi = base ? t->hi : 0 };
	/* join[-1] is the innermost standing frame not passed yet. */
	const struct shadow_frame *join =
		t->frames + (base ? w->valid : 0);
	_Atomic uint64_t *words = cache;
	struct frame *f = s.top;
	uintptr_t ra = w->ra, sp = w->sp, hi = s.reader.hi, cfa, fp_at;
	bool hard = false, joined = false;

	w->stop = GT_STOP_BOTTOM;
	frame_set(f, sp + ARCH_RA_OFFSET, ra);
	for (;;) {
		uint32_t payload;

		while (join > t->frames && join[-1].slot < f->slot)
			join--;
		s.top = f;
		joined = join > t->frames && join[-1].slot == f->slot &&
			 joins(&s, join - 1);
		if (joined)
			break;
		payload = rule_of(words, ra);
		if (__builtin_expect(!(payload & (WORD_RULE_ID | WORD_FP)),
				     1)) {
			cfa = sp + (payload & WORD_CFA_MAX) * ARCH_WORD;
			fp_at = payload >> WORD_FP_SHIFT & WORD_FP_MAX;
			fp_at = fp_at ? cfa - fp_at * ARCH_WORD : 0;
		} else {
			uintptr_t far_cfa, far_fp;

			s.sp = sp;
			if (!step_slow(&s, w, payload, ra, &far_cfa, &far_fp,
				       &hard))
				break;
			cfa = far_cfa;
			fp_at = far_fp;
			f = s.top;
		}
		if (!load_ra(&s, w, cfa, hi, &ra))
			break;
		sp = cfa;
		frame_set(++f, cfa + ARCH_RA_OFFSET, ra);
		if (fp_at) {
			s.fp_at = fp_at;
			s.fp_from = f;
		}
		if (__builtin_expect(ra == 0, 0)) {
			f->flags = FRAME_WORD;
			break;
		}
		if (__builtin_expect(f >= t->scratch + t->capacity - 4, 0)) {
			s.top = f;
			if (!walk_grow(t, &s, &join)) {
				w->stop = GT_STOP_TOO_DEEP;
				break;
			}
			f = s.top;
		}
	}
	w->join = (uint32_t)(join - t->frames) - 1;
	w->count = (uint32_t)(f - t->scratch) + 1;
	w->forget = s.forget;
	return hard ? WALK_HARD : joined ? WALK_JOINED : WALK_ENDED;
}
