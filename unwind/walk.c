/*
 * walk.c: the walk that most captures need, tracking pc, sp and fp.
 *
 * In front of the rule tables stands one process-wide cache of 8-byte words,
 * each read and written whole. A return address of 47 bits is cut into its
 * low INDEX_BITS and the rest; the index is their exclusive or, the rest is
 * stored, so a hit is exact. The word also holds the rule itself, so that one
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
 *     its fp_word, or a FRAME_WORD entry.
 * I2  Slots grow from entry to entry.
 *
 * Thread context: any; scratch belongs to the calling thread.
 */
#include <stdatomic.h>

#include "unwind/image.h"
#include "unwind/walk.h"

#define INDEX_BITS 14
#define INDEX_MASK ((1u << INDEX_BITS) - 1)
#define HIGH_SHIFT 31
#define WORD_RULE_ID (1u << 30)
#define WORD_END (1u << 16)	/* with WORD_RULE_ID: the outermost frame */
#define WORD_FP (1u << 21)
#define WORD_FP_SHIFT 13
#define WORD_FP_MAX 0xff
#define WORD_CFA_MAX 0x1fff
#define PAYLOAD_MASK ((1u << HIGH_SHIFT) - 1)

static _Atomic uint64_t *cache;

int walk_init(void)
{
	cache = unwind_alloc(sizeof(*cache) << INDEX_BITS);
	return cache ? 0 : -12;		/* ENOMEM */
}

void walk_flush(void)
{
	uint32_t i;

	for (i = 0; i <= INDEX_MASK; i++)
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

static __attribute__((noinline)) uint32_t
rule_miss(uintptr_t ra, _Atomic uint64_t *at, bool *known)
{
	const struct image *image = image_find(ra - 1);
	uint32_t payload;
	uint16_t id = 0;

	*known = image != NULL;
	if (!image)
		return WORD_RULE_ID;
	if (image->rules)
		id = rules_find(image->rules, ra - 1);
	payload = rule_payload(id);
	/* Nothing was called from before a function's first byte: somebody
	 * pushed its address to be returned to (makecontext, for one), and
	 * the stack was made up from there. */
	if (!id && image->rules && rules_find(image->rules, ra))
		payload = WORD_RULE_ID | WORD_END;
	atomic_store_explicit(at, (uint64_t)(ra >> INDEX_BITS) << HIGH_SHIFT |
					  payload,
			      memory_order_relaxed);
	return payload;
}

static inline uint32_t rule_of(uintptr_t ra, bool *known)
{
	uintptr_t high = ra >> INDEX_BITS;
	_Atomic uint64_t *at =
		&cache[(ra ^ high ^ high >> INDEX_BITS) & INDEX_MASK];
	uint64_t word = atomic_load_explicit(at, memory_order_relaxed);

	if (__builtin_expect(word >> HIGH_SHIFT == high && high, 1))
		return word & PAYLOAD_MASK;
	return rule_miss(ra, at, known);
}

struct state {
	struct stack_reader reader;
	struct frame *f;	/* scratch */
	uint32_t n;
	uintptr_t sp;
	uintptr_t fp;		/* valid if fp_known */
	uintptr_t fp_at;	/* else to be read here */
	uint32_t fp_from;	/* entry of scratch at which fp was loaded */
	bool fp_known;
	bool forget;
};

/* The frame pointer is needed now: read it, and let the entries since it was
 * loaded depend on it (I1). */
static bool use_fp(struct state *s)
{
	uint32_t i;

	if (!s->fp_known) {
		if (!stack_read(&s->reader, s->fp_at, &s->fp)) {
			s->forget = true;
			return false;
		}
		s->fp_known = true;
		s->f[s->fp_from].fp_word =
			(int16_t)((intptr_t)(s->fp_at -
					     s->f[s->fp_from].slot) /
				  ARCH_WORD);
	}
	for (i = s->n; i-- > s->fp_from && !(s->f[i].flags & FRAME_FP);) {
		s->f[i].fp = s->fp;
		s->f[i].flags |= FRAME_FP;
	}
	return true;
}

static inline void push(struct state *s, uintptr_t slot, uintptr_t ra)
{
	struct frame *f = &s->f[s->n++];

	f->slot = slot;
	f->ra = ra;
	f->fp_word = 0;
	f->flags = 0;
}

/* Rules that do not fit into a word. *hard: walk_full must be used. */
static enum gt_stop step_by_rule(struct state *s, const struct rule *r,
				 uintptr_t ra, bool known, uintptr_t *cfa,
				 uintptr_t *fp_at, bool *hard)
{
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
		if (word <= s->f[s->n - 1].slot)
			s->forget = true;	/* I2 would not hold */
		push(s, word, *cfa);
		s->f[s->n - 1].flags = FRAME_WORD | FRAME_FP;
		s->f[s->n - 1].fp = s->fp;
		*fp_at = s->fp + (uintptr_t)(r->fp_off * ARCH_WORD);
		return GT_STOP_BOTTOM;
	case RULE_NONE:
		if (!use_fp(s) ||
		    !walk_fp_sane(&s->reader, s->sp, s->fp, cfa))
			return known ? GT_STOP_NO_RULE : GT_STOP_NO_IMAGE;
		*fp_at = *cfa - 2 * ARCH_WORD;
		return GT_STOP_BOTTOM;
	case RULE_BAD:
		return GT_STOP_BAD_TABLE;
	default:
		*hard = true;
		return GT_STOP_BOTTOM;
	}
}

/* Whether the walk has arrived at frame j of the shadow in the same state. */
static inline bool joins(struct state *s, const struct frame *j)
{
	struct frame *own = &s->f[s->n - 1];

	if (j->slot != own->slot || j->flags & FRAME_WORD)
		return false;
	if (__builtin_expect(!(j->flags & FRAME_FP), 1))
		return true;
	return use_fp(s) && s->fp == j->fp;
}

enum walk_end walk_fast(struct capture_thread *t, struct walk *w, bool base)
{
	struct state s = { .f = t->scratch,
			   .sp = w->sp,
			   .fp = w->fp,
			   .fp_known = true };
	uint32_t j = base ? w->valid : 0, payload;
	enum walk_end end = WALK_ENDED;
	uintptr_t ra = w->ra, cfa, fp_at;
	bool known = true, hard = false;

	s.reader.lo = base ? w->sp : 0;
	s.reader.hi = base ? t->hi : 0;
	push(&s, w->sp + ARCH_RA_OFFSET, ra);
	w->stop = GT_STOP_BOTTOM;
	for (;;) {
		while (j && t->frames[j - 1].slot < s.f[s.n - 1].slot)
			j--;
		if (j && joins(&s, &t->frames[j - 1])) {
			w->join = j - 1;
			end = WALK_JOINED;
			break;
		}
		payload = rule_of(ra, &known);
		if (__builtin_expect(!(payload & WORD_RULE_ID), 1)) {
			if (payload & WORD_FP) {
				if (!use_fp(&s)) {
					w->stop = GT_STOP_BAD_READ;
					break;
				}
				cfa = s.fp;
			} else {
				cfa = s.sp;
			}
			cfa += (payload & WORD_CFA_MAX) * ARCH_WORD;
			fp_at = payload >> WORD_FP_SHIFT & WORD_FP_MAX;
			if (fp_at)
				fp_at = cfa - fp_at * ARCH_WORD;
		} else {
			const struct rule *r =
				&rules_dictionary[payload & 0xffff];

			if (payload & WORD_END || r->kind == RULE_END)
				break;
			w->stop = step_by_rule(&s, r, ra, known, &cfa, &fp_at,
					       &hard);
			if (hard) {
				end = WALK_HARD;
				break;
			}
			if (w->stop != GT_STOP_BOTTOM)
				break;
		}
		if (__builtin_expect(cfa <= s.sp, 0)) {
			w->stop = GT_STOP_NO_PROGRESS;
			break;
		}
		if (!stack_read(&s.reader, cfa + ARCH_RA_OFFSET, &ra)) {
			w->stop = GT_STOP_BAD_READ;
			s.forget = true;
			break;
		}
		if (ra == 0) {
			push(&s, cfa + ARCH_RA_OFFSET, 0);
			s.f[s.n - 1].flags = FRAME_WORD;
			break;
		}
		if (__builtin_expect(s.n + 4 >= t->capacity, 0)) {
			if (!stack_grow(t)) {
				w->stop = GT_STOP_TOO_DEEP;
				break;
			}
			s.f = t->scratch;
		}
		s.sp = cfa;
		push(&s, cfa + ARCH_RA_OFFSET, ra);
		if (fp_at) {
			s.fp_at = fp_at;
			s.fp_from = s.n - 1;
			s.fp_known = false;
		}
	}
	w->count = s.n;
	w->forget = s.forget;
	return end;
}
