/*
 * walk_plain.c: a walk that only collects addresses, or the context, of stacks
 * whose rules are all relative to sp or fp. It writes nothing to scratch and
 * remembers nothing. Stacks that it cannot follow are left to another walk.
 *
 * Thread context: any, also signal handlers.
 */
#include <stddef.h>

#include "unwind/barrier.h"
#include "unwind/base/assertion.h"
#include "unwind/base/context.h"
#include "unwind/predict.h"
#include "unwind/rule_cache.h"
#include "unwind/walk.h"

/* The state of a walk that only collects addresses. */
struct plain_walk {
	uintptr_t ra, sp, fp, fp_at;	/* as in struct state */
	uintptr_t lo, hi;		/* start, and the stack's end */
	uint32_t payload;		/* the rule at ra */
};

/* Sets sp to the frame's base, for a rule relative to fp, or behind a stub,
 * which is passed. False: neither. */
static bool pass_rare(struct plain_walk *w)
{
	if (rule_is_stub(w->payload)) {
		w->ra = barrier_origin(w->ra);
		if (barrier_in_stubs(w->ra))	/* as in through_stub */
			return false;
		w->payload = rule_of(rule_cache, w->ra);
		if (w->payload & WORD_PLAIN)
			return true;
	}
	if (!(w->payload & WORD_FP))
		return false;
	if (w->fp_at) {
		if (w->fp_at < w->lo)
			return false;
		w->fp = *(const uintptr_t *)w->fp_at;
		w->fp_at = 0;
	}
	if (w->fp < w->sp || w->fp >= w->hi || w->fp % ARCH_WORD)
		return false;
	w->sp = w->fp;
	return true;
}

/* n frames have been walked, and lead to (sp, ra). Whether the prediction
 * holds. t: the thread whose shadow it may be; NULL: none. */
static inline __attribute__((always_inline)) bool
is_expected(struct first_walk *first, const struct capture_thread *t,
	    const struct walk_start *start, const uintptr_t *addresses,
	    uint32_t n, uintptr_t sp, uintptr_t ra)
{
	struct predicted_walk e = { .ra = start->ra, .sp = start->sp,
				   .fp = start->fp, .lo = start->sp,
				   .hi = start->hi };

	if (n == PREDICT_FRAMES - 1)
		predict_probe(&first->prediction, addresses[0], addresses[1],
			      addresses[2], start->hi - start->sp);
	if (n != PREDICT_FRAMES)
		return false;
	predict_find(&first->prediction, addresses[3]);
	if (!first->prediction.context ||
	    (t && !predict_wanted(t, sp, ra)) ||
	    !predict_follow(&e, first->prediction.context, t))
		return false;
	first->count = e.count;
	first->met = e.met;
	first->sp = sp;
	first->ra = ra;
	return true;
}

/* walk_addresses. With `first`, also checks the prediction: *stop is
 * GT_STOP_COUNT if it holds. */
static inline __attribute__((always_inline)) uint32_t
walk_plain(const struct walk_start *start, uintptr_t *addresses, uint32_t max,
	   enum gt_stop *stop, uint64_t *hash, struct first_walk *first,
	   const struct capture_thread *t)
{
	_Atomic uint64_t *words = rule_cache;
	struct context_sum sum = context_sum_start();
	struct plain_walk w = { .fp = start->fp, .lo = start->sp,
				.hi = start->hi };
	uintptr_t ra = start->ra, sp = start->sp, hi = start->hi, fp_at = 0;
	uint32_t n = 0;

	DEBUG_ASSERT(start->sp <= hi);
	*stop = GT_STOP_TOO_DEEP;
	if (start->sp % ARCH_WORD)	/* set by the program itself */
		return 0;
	while (n < max) {
		uintptr_t size, saved, at, base, slot;
		uint32_t rule = rule_of(words, ra);
		bool end = false;

		if (__builtin_expect(!(rule & WORD_PLAIN), 0)) {
			w.ra = ra;
			w.sp = sp;
			w.fp_at = fp_at;
			w.payload = rule;
			/* an empty word is not the rule of a very low address,
			 * and a word relative to fp has no rule id */
			if (!pass_rare(&w)) {
				if (rule_key(w.ra) >> INDEX_BITS == 0 ||
				    w.payload & WORD_FP ||
				    !rule_is_outermost(w.payload, w.sp))
					return 0;
				end = true;
			}
			ra = w.ra;
			sp = w.sp;
			fp_at = w.fp_at;
			rule = w.payload;
		}
		addresses[n++] = ra;
		context_sum_add(&sum, ra);
		if (__builtin_expect(end, 0)) {
			*stop = GT_STOP_BOTTOM;
			*hash = context_sum_end(&sum, GT_STOP_BOTTOM);
			return n;
		}
		size = rule_size(rule);
		/* Each step waits for this: one mask, then one addition. */
		__asm__("" : "+r"(size));
		base = sp;
		sp += size * ARCH_RULE_UNIT;
		if (__builtin_expect(sp > hi, 0))
			return 0;
		slot = arch_rule_slot(base, sp, rule);
		ra = arch_return_address(*(const uintptr_t *)slot);
		/* This branch is unpredictable. */
		saved = rule_saved(rule);
		at = arch_rule_fp_at(sp, slot, saved);
		__asm__("" : "+r"(at), "+r"(saved));
		fp_at = __builtin_expect_with_probability(saved != 0, 1, 0.5) ?
				at : fp_at;
		if (first && n <= PREDICT_FRAMES &&
		    is_expected(first, t, start, addresses, n, sp, ra)) {
			*stop = GT_STOP_COUNT;
			return n;
		}
	}
	return n;
}

uint32_t walk_addresses(const struct walk_start *start, uintptr_t *addresses,
			uint32_t max, enum gt_stop *stop, uint64_t *hash)
{
	return walk_plain(start, addresses, max, stop, hash, NULL, NULL);
}

uint32_t walk_context(const struct walk_start *start, uintptr_t *addresses,
		      uint32_t max, uint32_t *count)
{
	struct first_walk first = { .prediction.tag = 0 };
	enum gt_stop stop;
	uint64_t hash = 0;
	uint32_t context;
	uint32_t n = walk_plain(start, addresses, max, &stop, &hash, &first,
				NULL);

	if (stop == GT_STOP_COUNT) {
		*count = first.count;
		return first.prediction.context;
	}
	if (n == 0 || stop != GT_STOP_BOTTOM)
		return 0;
	*count = n;
	context = context_of_walk(addresses, n, GT_STOP_BOTTOM, hash);
	if (n > PREDICT_FRAMES)
		predict_learn(&first.prediction, context);
	return context;
}

uint32_t walk_expected(const struct capture_thread *t,
		       const struct walk_start *start, struct first_walk *of)
{
	uintptr_t addresses[PREDICT_FRAMES];
	enum gt_stop stop;
	uint64_t hash;
	uint32_t n = walk_plain(start, addresses, PREDICT_FRAMES, &stop, &hash,
				of, t);

	if (stop == GT_STOP_COUNT)
		return of->prediction.context;
	if (n < PREDICT_FRAMES || stop == GT_STOP_BOTTOM)
		of->prediction.at = NULL;
	return 0;
}
