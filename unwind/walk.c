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
#define WORD_NO_IMAGE (1u << 17)	/* with WORD_RULE_ID */
#define WORD_FP (1u << 21)
#define WORD_FP_SHIFT 13
#define WORD_FP_MAX 0xff
#define WORD_CFA_MAX 0x1fff
/* Stored inverted, so that an empty word belongs to no address. */
#define HIGH_INVERT ((UINT64_C(1) << (64 - HIGH_SHIFT)) - 1)
#define PAYLOAD_MASK ((1u << HIGH_SHIFT) - 1)

static _Atomic uint64_t *cache;

int walk_init(void)
{
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

static __attribute__((noinline)) uint32_t
rule_miss(uintptr_t ra, _Atomic uint64_t *at)
{
	const struct image *image = image_find(ra - 1);
	uint64_t high = ra >> INDEX_BITS ^ HIGH_INVERT;
	uint32_t payload;
	uint16_t id = 0;

	if (!image)
		return WORD_RULE_ID | WORD_NO_IMAGE;
	if (image->rules)
		id = rules_find(image->rules, ra - 1);
	payload = rule_payload(id);
	/* Nothing was called from before a function's first byte: somebody
	 * pushed its address to be returned to (makecontext, for one), and
	 * the stack was made up from there. */
	if (!id && image->rules && rules_find(image->rules, ra))
		payload = WORD_RULE_ID | WORD_END;
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
	struct frame *f;	/* scratch */
	uint32_t n;
	uintptr_t sp;
	uintptr_t fp;		/* valid if fp_at is 0 */
	uintptr_t fp_at;	/* else to be read here */
	uint32_t fp_from;	/* entry of scratch at which fp was loaded */
	bool forget;
};

/* The frame pointer is needed now: read it, and let the entries since it was
 * loaded depend on it (I1). */
static bool use_fp(struct state *s)
{
	struct frame *from = &s->f[s->fp_from];
	uint32_t i;

	if (s->fp_at) {
		if (!stack_read(&s->reader, s->fp_at, &s->fp)) {
			s->forget = true;
			return false;
		}
		from->fp_word = (int16_t)((intptr_t)(s->fp_at - from->slot) /
					  ARCH_WORD);
		s->fp_at = 0;
	}
	for (i = s->n; i-- > s->fp_from && !(s->f[i].flags & FRAME_FP);) {
		s->f[i].fp = s->fp;
		s->f[i].flags |= FRAME_FP;
	}
	return true;
}

static inline void frame_set(struct frame *f, uintptr_t slot, uintptr_t ra)
{
	f->slot = slot;
	f->ra = ra;
	f->context = 0;
	f->fp_word = 0;
	f->flags = 0;
}

static void push_word(struct state *s, uintptr_t at, uintptr_t value)
{
	struct frame *f = &s->f[s->n];

	if (at <= s->f[s->n - 1].slot)
		s->forget = true;	/* I2 would not hold */
	frame_set(f, at, value);
	f->flags = FRAME_WORD | FRAME_FP;
	f->fp = s->fp;
	s->n++;
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
			return payload & WORD_NO_IMAGE ? GT_STOP_NO_IMAGE :
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
static bool is_end(uint32_t payload)
{
	return payload & WORD_END ||
	       (payload & WORD_RULE_ID &&
		rules_dictionary[payload & 0xffff].kind == RULE_END);
}

enum walk_end walk_fast(struct capture_thread *t, struct walk *w, bool base)
{
	struct state s = { .f = t->scratch,
			   .n = 1,
			   .fp = w->fp,
			   .reader.lo = base ? w->sp : 0,
			   .reader.hi = base ? t->hi : 0 };
	_Atomic uint64_t *words = cache;
	const struct frame *join = t->frames + (base ? w->valid : 0);
	struct frame *f = s.f, *f_last = s.f + t->capacity - 4;
	uintptr_t ra = w->ra, sp = w->sp, hi = s.reader.hi, cfa, fp_at;
	enum walk_end end = WALK_ENDED;
	bool hard = false;
	uint32_t payload;

	w->stop = GT_STOP_BOTTOM;
	frame_set(f, sp + ARCH_RA_OFFSET, ra);
	for (;;) {
		/* join[-1] is the innermost standing frame not passed yet. */
		while (join > t->frames && join[-1].slot < f->slot)
			join--;
		if (join > t->frames && join[-1].slot == f->slot &&
		    !(join[-1].flags & FRAME_WORD)) {
			s.n = (uint32_t)(f - s.f) + 1;
			if (!(join[-1].flags & FRAME_FP) ||
			    (use_fp(&s) && s.fp == join[-1].fp)) {
				w->join = (uint32_t)(join - t->frames) - 1;
				end = WALK_JOINED;
				break;
			}
		}
		payload = rule_of(words, ra);
		if (__builtin_expect(!(payload & (WORD_RULE_ID | WORD_FP)),
				     1)) {
			cfa = sp + (payload & WORD_CFA_MAX) * ARCH_WORD;
			fp_at = payload >> WORD_FP_SHIFT & WORD_FP_MAX;
			fp_at = fp_at ? cfa - fp_at * ARCH_WORD : 0;
		} else {
			s.n = (uint32_t)(f - s.f) + 1;
			s.sp = sp;
			if (!(payload & WORD_RULE_ID)) {
				if (!use_fp(&s)) {
					w->stop = GT_STOP_BAD_READ;
					break;
				}
				cfa = s.fp + (payload & WORD_CFA_MAX) *
						     ARCH_WORD;
				fp_at = payload >> WORD_FP_SHIFT & WORD_FP_MAX;
				fp_at = fp_at ? cfa - fp_at * ARCH_WORD : 0;
			} else {
				if (is_end(payload))
					break;
				w->stop = step_by_rule(&s, payload, ra, &cfa,
						       &fp_at, &hard);
				if (hard)
					end = WALK_HARD;
				if (hard || w->stop != GT_STOP_BOTTOM)
					break;
				f = &s.f[s.n - 1];
			}
			if (cfa <= sp) {
				w->stop = GT_STOP_NO_PROGRESS;
				break;
			}
		}
		if (__builtin_expect(cfa <= hi && !(cfa & 7), 1)) {
			ra = *(const uintptr_t *)(cfa + ARCH_RA_OFFSET);
		} else if (!stack_read_checked(&s.reader, cfa + ARCH_RA_OFFSET,
					       &ra)) {
			w->stop = GT_STOP_BAD_READ;
			s.forget = true;
			break;
		}
		sp = cfa;
		frame_set(++f, cfa + ARCH_RA_OFFSET, ra);
		if (fp_at) {
			s.fp_at = fp_at;
			s.fp_from = (uint32_t)(f - s.f);
		}
		if (__builtin_expect(ra == 0, 0)) {
			f->flags = FRAME_WORD;
			break;
		}
		if (__builtin_expect(f >= f_last, 0)) {
			uint32_t n = (uint32_t)(f - s.f);
			uint32_t at = (uint32_t)(join - t->frames);

			if (!stack_grow(t)) {
				w->stop = GT_STOP_TOO_DEEP;
				break;
			}
			s.f = t->scratch;
			f = s.f + n;
			f_last = s.f + t->capacity - 4;
			join = t->frames + at;
		}
	}
	w->count = (uint32_t)(f - s.f) + 1;
	w->forget = s.forget;
	return end;
}
