/*
 * predict.h: value prediction for walks: a stack that was captured before is
 * only compared, not unwound again.
 *
 *	recent    hash table, four contexts a slot. Key: the three innermost
 *	          return addresses and their distance from the outer end of the
 *	          stack; tag: bits of the fourth address's hash. Or, if few
 *	          frames are new in a known stack: the whole stack's hash
 *	the tree  from there on: each return address and its frame's size
 *	          (context.h, STEP_)
 *
 * If the innermost frames of a walk match a recent stack, the other frames are
 * only compared: no step waits for a load of the step before, and no rule is
 * looked up. The context is known at the end without a lookup. (Value
 * prediction after Lipasti, Wilkerson and Shen, in software.)
 *
 * I1  A frame is accepted only if its return address lies in the stack, at the
 *     address that the frames inward of it lead to: following a prediction is a
 *     real walk.
 *
 * All threads share the recent stacks. Thread context: any, also signal
 * handlers.
 */
#ifndef GNOMON_UNWIND_PREDICT_H
#define GNOMON_UNWIND_PREDICT_H

#include "unwind/barrier.h"
#include "unwind/base/assertion.h"
#include "unwind/base/context.h"
#include "unwind/rule_cache.h"
#include "unwind/stack.h"

#define RECENT_BITS 14		/* 256 KB, touched on demand */
#define RECENT_WAYS 4
#define RECENT_TAG 24		/* bit position of the tag, above the context;
				 * larger ids are not kept */
#define PREDICT_FRAMES 4u	/* walked before a prediction is followed */
#define PREDICT_MAX 96u		/* longer stacks are joined to the shadow … */
#define PREDICT_REDRAWN 3u	/* … unless so many in a row were mostly new */
#define PREDICT_TRIES 256u	/* after so many the choice is made again */
#define PREDICT_AHEAD 28u	/* nodes to prefetch */
#define PREDICT_LINE (64 / sizeof(struct gl_node))

struct recent {
	_Atomic uint32_t way[RECENT_WAYS];	/* tag, and context; 0: none */
};

/* Set once by predict_init. */
extern __attribute__((visibility("hidden"))) struct recent *recent_stacks;

/* 0 or -ENOMEM. Forgets all recent stacks. */
int predict_init(void);

/* The prediction for a walk. It is made in two steps, so that the cache line of
 * the table arrives in between. */
struct prediction {
	struct recent *at;	/* NULL: the walk was too short */
	uint64_t hash;		/* of the key that selects the slot */
	uint32_t tag;
	uint32_t context;	/* 0: no prediction */
};

/* First step, with three frames known: prefetches the slot. `place`: bytes from
 * the innermost frame to the outer end of the stack. (With two frames, all
 * stacks of an allocator wrapper shared too few slots.) */
static inline void predict_probe(struct prediction *of, uintptr_t first,
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

/* The context in the slot with this tag, which at most one way has. Way ^ tag
 * is a valid context id for that way only, hence the minimum of all. (Minus
 * one, so that an empty way is not the minimum if the tag is 0.) */
static inline void predict_read(struct prediction *of, uint32_t tag)
{
	uint32_t id = UINT32_MAX;
	unsigned i;

	for (i = 0; i < RECENT_WAYS; i++) {
		/* pairs with predict_learn's: the nodes are there */
		uint32_t way = (atomic_load_explicit(&of->at->way[i],
						     memory_order_acquire) ^
				tag) - 1;

		id = way < id ? way : id;
	}
	id++;
	of->tag = tag;
	of->context = id >> RECENT_TAG ? 0 : id;
}

/* The prediction by the hash of a whole stack, if all but the innermost frame
 * is known. */
static inline void predict_inner(struct prediction *of, uint64_t hash)
{
	of->at = &recent_stacks[hash >> (64 - RECENT_BITS)];
	predict_read(of, (uint32_t)(hash >> 16) & UINT32_MAX << RECENT_TAG);
}

/* Second step, with the fourth frame known. */
static inline void predict_find(struct prediction *of, uintptr_t fourth)
{
	uint64_t hash = of->hash + fourth * CONTEXT_HASH_ADDRESS;

	predict_read(of, (uint32_t)(hash >> (32 - RECENT_BITS)) &
				UINT32_MAX << RECENT_TAG);
}

/* Stores the walk's context, in place of an entry with the same tag. */
static inline void predict_learn(const struct prediction *of, uint32_t context)
{
	uint32_t newer = context | of->tag;
	unsigned i;

	DEBUG_ASSERT(of->at && !(of->tag << (32 - RECENT_TAG)));
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

/* A walk that follows a prediction. */
struct predicted_walk {
	uintptr_t ra, sp, fp;	/* where it starts; advances */
	uintptr_t slot;		/* address of the next return address, if it
				 * does not follow from sp */
	uintptr_t fp_at;	/* as in walk.c's struct state */
	uintptr_t lo, hi;	/* [lo, hi) is readable */
	uint32_t count;		/* frames followed */
	bool met;		/* it ended at a barrier */
};

/* Whether a barrier stands in the slot and this context is the stack outward of
 * it (shadow.c, I4). */
static inline bool predict_barrier(const struct predicted_walk *e,
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

/* Advances to the end of the frame that begins at base, by the fields of its
 * rule. */
static inline __attribute__((always_inline)) void
predict_end(struct predicted_walk *e, uintptr_t base, uint32_t rule,
	    uint32_t size, uint32_t saved)
{
	e->sp = base + size * ARCH_RULE_UNIT;
	e->slot = arch_rule_slot(base, e->sp, rule);
	if (saved)
		e->fp_at = arch_rule_fp_at(e->sp, e->slot, saved);
}

/* Like predict_end, for a frame relative to fp. */
static inline __attribute__((always_inline)) bool
predict_fp(struct predicted_walk *e, uint32_t rule, uint32_t size,
	   uint32_t saved)
{
	if (e->fp_at) {
		if (e->fp_at < e->lo)
			return false;
		e->fp = *(const uintptr_t *)e->fp_at;
		e->fp_at = 0;
	}
	if (e->fp < e->sp || e->fp >= e->hi || e->fp % ARCH_WORD)
		return false;
	predict_end(e, e->fp, rule, size, saved);
	return true;
}

/* Advances past a frame whose node has no plain step. False: this frame needs
 * another kind of walk; or, if *end, it is the outermost one. */
static inline __attribute__((always_inline)) bool
predict_rare(struct predicted_walk *e, uint32_t kind, uintptr_t ra, bool *end)
{
	uint32_t rule, size, saved;

	*end = false;
	if (!ARCH_LINK_REGISTER && kind == STEP_FP)
		return predict_fp(e, 0, 2, 2);
	rule = rule_of(rule_cache, ra);
	size = (uint32_t)rule_size(rule);
	saved = (uint32_t)rule_saved(rule);
	if (rule & WORD_FP)
		return predict_fp(e, rule, size, saved);
	if (ARCH_LINK_REGISTER && !(rule & WORD_PLAIN))
		*end = rule_is_outermost(rule, e->sp);
	if (!(rule & WORD_PLAIN) || size == 0)
		return false;
	predict_end(e, e->sp, rule, size, saved);
	return true;
}

/*
 * Whether the stack outward of the walk's start is the stack of this context:
 * to its outermost frame, or to a barrier of the thread (NULL: no thread) that
 * vouches for the frames outward of it.
 */
static inline __attribute__((always_inline)) bool
predict_follow(struct predicted_walk *e, uint32_t id,
	       const struct capture_thread *t)
{
	const struct gl_node *node = context_node_at(id);
	uintptr_t sp = e->sp, ra = e->ra, hi = e->hi, saved_end = 0;
	uintptr_t slot = sp + ARCH_RA_OFFSET;
	uint32_t saved = 0, count = 0, i;

	DEBUG_ASSERT(sp <= hi);
	for (i = 0; i < PREDICT_AHEAD; i += PREDICT_LINE)
		__builtin_prefetch(node - i, 0, 3);
	for (;;) {
		uint32_t flags = __atomic_load_n(&node->flags,
						 __ATOMIC_RELAXED);
		uint32_t size = flags >> STEP_SIZE_SHIFT & STEP_SIZE_MAX;
		uint32_t parent = __atomic_load_n(&node->parent,
						  __ATOMIC_RELAXED);
		bool end;

		if (__builtin_expect(node->address != ra, 0)) {
			/* a thread without barriers may have a stub to remove
			 * (I6 of shadow.c) */
			if (!barrier_in_stubs(ra) ||
			    (t && t->mode != GT_MODE_BARRIERS))
				return false;
			e->ra = ra;
			e->sp = sp;
			e->slot = slot;
			e->met = predict_barrier(e, t, id);
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
			if (!predict_rare(e, size, node->address, &end)) {
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
		/* like context_trail_step */
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
 * Whether following the prediction pays; sp and ra: the frame that the first
 * frames lead to. Two conditions. The way to a barrier or to the outermost
 * frame is not too long, or most of it changes each time (`redrawn`). And the
 * last capture that a prediction answered has another frame here: with the same
 * frame, few frames change from one capture to the next, and updating the
 * shadow is cheaper.
 */
static inline bool predict_wanted(const struct capture_thread *t,
				  uintptr_t sp, uintptr_t ra)
{
	uint32_t inner = t->barrier_count ?
				 t->barrier[t->barrier_count - 1] : 0;

	return inner < t->count &&
	       ((t->count - inner <= PREDICT_MAX &&
		 t->predicted_far <= PREDICT_MAX) ||
		t->redrawn >= PREDICT_REDRAWN) &&
	       (sp != t->predicted_sp || ra != t->predicted_ra);
}

/* Counts a capture that was answered by following a prediction. */
static inline void predict_answered(struct capture_thread *t, uint32_t count,
				    bool met, uintptr_t sp, uintptr_t ra)
{
	t->predicted_far = met ? 0 : count;
	if (met && 2 * count <= t->count)
		t->redrawn = 0;
	else if (t->redrawn >= PREDICT_REDRAWN &&
		 ++t->redrawn >= PREDICT_REDRAWN + PREDICT_TRIES)
		t->redrawn = PREDICT_REDRAWN - 2;
	t->predicted_sp = sp;
	t->predicted_ra = ra;
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
