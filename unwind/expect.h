/*
 * expect.h: the walk along a stack that was met before.
 *
 *	recent    four contexts in a place, by the three innermost return
 *	          addresses and how far from the outer end of the stack they lie;
 *	          beside each some bits of the next one's hash. Or, where few
 *	          frames are new in a known stack, by the whole stack's hash
 *	the tree  from there on: each return address, and how large its frame is
 *	          (context.h, STEP_)
 *
 * Where a walk begins as one that was met lately, all that is left is to
 * compare: no step waits for what the one before it loads, and no rule is
 * looked up. The context is known at the end, without a look-up of its own.
 * (Value prediction, as of Lipasti, Wilkerson and Shen, in software.)
 *
 * I1  A frame counts only if its return address is in the stack, in the place
 *     that the frames inward of it lead to: what is followed is a walk.
 *
 * All threads share what was met. Thread context: any, also signal handlers.
 */
#ifndef GNOMON_UNWIND_EXPECT_H
#define GNOMON_UNWIND_EXPECT_H

#include "unwind/barrier.h"
#include "unwind/claim.h"
#include "unwind/context.h"
#include "unwind/rule_cache.h"
#include "unwind/stack.h"

#define RECENT_BITS 14		/* 256 KB, as far as they are used */
#define RECENT_WAYS 4
#define RECENT_TAG 24		/* above the context; larger ones are left out */
#define EXPECT_FRAMES 4u	/* walked before a stack is followed */
#define EXPECT_MAX 96u		/* further, stacks are joined to the shadow … */
#define EXPECT_REDRAWN 3u	/* … unless these in a row were mostly new */
#define EXPECT_TRIES 256u	/* then it is looked at again */
#define EXPECT_AHEAD 28u	/* nodes asked for before they are needed */
#define EXPECT_LINE (64 / sizeof(struct gl_node))

struct recent {
	_Atomic uint32_t way[RECENT_WAYS];	/* tag, and context; 0: none */
};

/* Set once, by expect_init. */
extern __attribute__((visibility("hidden"))) struct recent *recent_stacks;

/* 0 or -ENOMEM. Forgets what was met. */
int expect_init(void);

/* What a walk expects: found out in two steps, as far apart as a line of the
 * table takes to arrive. */
struct expectation {
	struct recent *at;	/* NULL: the walk was too short for it */
	uint64_t hash;		/* of what has chosen the place */
	uint32_t tag;
	uint32_t context;	/* 0: nothing */
};

/* Three frames are known; `place`: bytes from the innermost to the outer end of
 * the stack. (With two, all stacks of a wrapper came to too few places.) */
static inline void expect_look(struct expectation *of, uintptr_t first,
			       uintptr_t second, uintptr_t third,
			       uintptr_t place)
{
	uint64_t hash = (first + second * CONTEXT_HASH_STOP +
			 (place + third * CONTEXT_HASH_STOP) *
				 CONTEXT_HASH_STEP) *
			CONTEXT_HASH_ADDRESS;

	of->hash = hash;
	of->at = &recent_stacks[hash >> (64 - RECENT_BITS)];
	__builtin_prefetch(of->at, 0, 3);
}

/* What the place holds under the tag, which no two ways have: less that, it is
 * the only one that is no more than a context can be. (One less: or an empty way
 * would be the least, where the tag is 0.) */
static inline void expect_read(struct expectation *of, uint32_t tag)
{
	uint32_t id = UINT32_MAX;
	unsigned i;

	for (i = 0; i < RECENT_WAYS; i++) {
		/* pairs with expect_learn's: the nodes are there */
		uint32_t way = (atomic_load_explicit(&of->at->way[i],
						     memory_order_acquire) ^
				tag) - 1;

		id = way < id ? way : id;
	}
	id++;
	of->tag = tag;
	of->context = id >> RECENT_TAG ? 0 : id;
}

/* Of a stack by its hash, where all but the innermost frame is known. */
static inline void expect_inner(struct expectation *of, uint64_t hash)
{
	of->at = &recent_stacks[hash >> (64 - RECENT_BITS)];
	expect_read(of, (uint32_t)(hash >> 16) & UINT32_MAX << RECENT_TAG);
}

/* And the next one. */
static inline void expect_find(struct expectation *of, uintptr_t fourth)
{
	uint64_t hash = of->hash + fourth * CONTEXT_HASH_ADDRESS;

	expect_read(of, (uint32_t)(hash >> (32 - RECENT_BITS)) &
				UINT32_MAX << RECENT_TAG);
}

/* What it was. It takes the place of what had the same tag. */
static inline void expect_learn(const struct expectation *of, uint32_t context)
{
	uint32_t newer = context | of->tag;
	unsigned i;

	CLAIM_FULL(of->at && !(of->tag << (32 - RECENT_TAG)));
	if (context >> RECENT_TAG || context < GT_STOP_COUNT)
		return;
	for (i = 0; i < RECENT_WAYS && newer; i++) {
		uint32_t older = atomic_load_explicit(&of->at->way[i],
						      memory_order_acquire);

		atomic_store_explicit(&of->at->way[i], newer,
				      memory_order_release);
		newer = (older ^ of->tag) >> RECENT_TAG ? older : 0;
	}
}

/* A walk that is expected to go this way. */
struct expected_walk {
	uintptr_t ra, sp, fp;	/* where it starts; moved */
	uintptr_t slot;		/* where the next return address is, if sp does
				 * not say so */
	uintptr_t fp_at;	/* as in walk.c's struct state */
	uintptr_t lo, hi;	/* [lo, hi) can be read */
	uint32_t count;		/* frames followed */
	bool met;		/* it ended at a barrier */
};

/* Whether a barrier that stands in the slot has this context outward of it
 * (shadow.c, I4). */
static inline bool expect_barrier(const struct expected_walk *e,
				  const struct capture_thread *t,
				  uint32_t context)
{
	const struct shadow_frame *f;

	if (!t || !t->barrier_count)
		return false;
	f = &t->frames[t->barrier[t->barrier_count - 1]];
	return f->slot == (ARCH_LINK_REGISTER ? e->slot :
						e->sp + ARCH_RA_OFFSET) &&
	       f->raw == e->ra && shadow_frame_leaves(f, e->sp) &&
	       (uint32_t)f->mark == context;
}

/* To the end of a frame of which base is the beginning, by the word's fields. */
static inline __attribute__((always_inline)) void
expect_end(struct expected_walk *e, uintptr_t base, uint32_t rule,
	   uint32_t size, uint32_t saved)
{
	e->sp = base + size * ARCH_RULE_UNIT;
	e->slot = arch_rule_slot(base, e->sp, rule);
	if (saved)
		e->fp_at = arch_rule_fp_at(e->sp, e->slot, saved);
}

/* The same from fp. */
static inline __attribute__((always_inline)) bool
expect_fp(struct expected_walk *e, uint32_t rule, uint32_t size, uint32_t saved)
{
	if (e->fp_at) {
		if (e->fp_at < e->lo)
			return false;
		e->fp = *(const uintptr_t *)e->fp_at;
		e->fp_at = 0;
	}
	if (e->fp < e->sp || e->fp >= e->hi || e->fp % ARCH_WORD)
		return false;
	expect_end(e, e->fp, rule, size, saved);
	return true;
}

/* To the end of a frame that its node does not tell. False: it has to be walked
 * otherwise; or *end: it is the outermost one. */
static inline __attribute__((always_inline)) bool
expect_rare(struct expected_walk *e, uint32_t kind, uintptr_t ra, bool *end)
{
	uint32_t rule, size, saved;

	*end = false;
	if (!ARCH_LINK_REGISTER && kind == STEP_FP)
		return expect_fp(e, 0, 2, 2);
	rule = rule_of(rule_cache, ra);
	size = (uint32_t)rule_size(rule);
	saved = (uint32_t)rule_saved(rule);
	if (rule & WORD_FP)
		return expect_fp(e, rule, size, saved);
	if (ARCH_LINK_REGISTER && !(rule & WORD_PLAIN))
		*end = rule_is_outermost(rule, e->sp);
	if (!(rule & WORD_PLAIN) || size == 0)
		return false;
	expect_end(e, e->sp, rule, size, saved);
	return true;
}

/*
 * Whether the stack outward of the walk's start is that of the context, to its
 * outermost frame, or to a barrier of the thread (NULL: there is none) that
 * vouches for what lies outward.
 */
static inline __attribute__((always_inline)) bool
expect_follow(struct expected_walk *e, uint32_t id,
	      const struct capture_thread *t)
{
	const struct gl_node *node = context_node_at(id);
	uintptr_t sp = e->sp, ra = e->ra, hi = e->hi, saved_end = 0;
	uintptr_t slot = sp + ARCH_RA_OFFSET;
	uint32_t saved = 0, count = 0, i;

	CLAIM_FULL(sp <= hi);
	for (i = 0; i < EXPECT_AHEAD; i += EXPECT_LINE)
		__builtin_prefetch(node - i, 0, 3);
	for (;;) {
		uint32_t flags = __atomic_load_n(&node->flags,
						 __ATOMIC_RELAXED);
		uint32_t size = flags >> STEP_SIZE_SHIFT & STEP_SIZE_MAX;
		uint32_t parent = __atomic_load_n(&node->parent,
						  __ATOMIC_RELAXED);
		bool end;

		if (__builtin_expect(node->address != ra, 0)) {
			/* (or it is to be taken away: I6 of shadow.c) */
			if (!barrier_is_stub(ra) ||
			    (t && t->mode != GT_MODE_BARRIERS))
				return false;
			e->ra = ra;
			e->sp = sp;
			e->slot = slot;
			e->met = expect_barrier(e, t, id);
			if (e->met)
				break;
			if (barrier_origin(ra) != node->address)
				return false;
		}
		count++;
		if (__builtin_expect(flags & (STEP_RARE | GL_NODE_DEAD), 0)) {
			if (flags & GL_NODE_DEAD)
				return false;
			if (size == STEP_END) {
				if (parent != GT_STOP_BOTTOM)
					return false;
				break;
			}
			if (saved)
				e->fp_at = saved_end -
					   ((saved >> STEP_SAVED_SHIFT) +
					    !ARCH_LINK_REGISTER) * ARCH_WORD;
			saved = 0;
			e->sp = sp;
			if (!expect_rare(e, size, node->address, &end)) {
				if (!end || parent != GT_STOP_BOTTOM)
					return false;
				break;
			}
			sp = e->sp;
			slot = e->slot;
		} else {
			uint32_t here = flags &
					STEP_SAVED_MAX << STEP_SAVED_SHIFT;
			uintptr_t base = sp;

			sp += size * ARCH_RULE_UNIT;
			slot = arch_step_slot(base, sp, flags >> STEP_RA_SHIFT &
								STEP_RA_MAX);
			saved_end = !here ? saved_end :
				    ARCH_LINK_REGISTER ? slot : sp;
			saved = here ? here : saved;
		}
		/* as context_trail_step */
		if (__builtin_expect(parent == id - 1 && id & parent, 1)) {
			node--;
		} else {
			if (parent >= id || parent < GT_STOP_COUNT)
				return false;
			node = context_node_at(parent);
		}
		id = parent;
		if (__builtin_expect(sp > hi, 0))
			return false;
		ra = arch_return_address(*(const uintptr_t *)(
			ARCH_LINK_REGISTER ? slot : sp + ARCH_RA_OFFSET));
	}
	e->count = count;
	return true;
}

/*
 * Whether it is worth while to follow what is expected, the first frames
 * leading to this one: the way to a barrier or to the outermost frame is
 * not too long, or most of it changes each time (`redrawn`); and the stack of
 * the last capture that was answered so has another frame here. If it has the
 * same, few frames change from one capture to the next, and the shadow is
 * better brought up to date.
 */
static inline bool expect_wanted(const struct capture_thread *t,
				 uintptr_t sp, uintptr_t ra)
{
	uint32_t inner = t->barrier_count ?
				 t->barrier[t->barrier_count - 1] : 0;

	return inner < t->count &&
	       ((t->count - inner <= EXPECT_MAX &&
		 t->expected_far <= EXPECT_MAX) ||
		t->redrawn >= EXPECT_REDRAWN) &&
	       (sp != t->expected_sp || ra != t->expected_ra);
}

/* The capture was answered by such a walk. */
static inline void expect_answered(struct capture_thread *t, uint32_t count,
				   bool met, uintptr_t sp, uintptr_t ra)
{
	t->expected_far = met ? 0 : count;
	if (met && 2 * count <= t->count)
		t->redrawn = 0;
	else if (t->redrawn >= EXPECT_REDRAWN &&
		 ++t->redrawn >= EXPECT_REDRAWN + EXPECT_TRIES)
		t->redrawn = EXPECT_REDRAWN - 2;
	t->expected_sp = sp;
	t->expected_ra = ra;
	t->report->counts.frames_walked += count;
	if (met) {
		t->report->counts.tier_join++;
		t->report->barriers_met++;
	} else {
		t->report->counts.tier_full++;
		t->report->counts.stops[GT_STOP_BOTTOM]++;
	}
}

#endif
