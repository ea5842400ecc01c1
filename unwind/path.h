/*
 * path.h: whole stacks remembered by (return address, sp) at the hook, each
 * with the words its walk read. All equal: the stack is the same.
 *
 *	tags    16 bits of each way's key, 0 where it is empty; PATH_WAYS a set
 *	paths   as many
 *
 * so that a look-up that finds nothing touches one word of a small array.
 *
 * The list of words ends with the outermost frame, or at a frame of the
 * shadow, the path's tail: at the first barrier, whose stub says that all
 * further out is as the shadow has it; or, where the list would get too long,
 * at any frame, and the shadow's own words are compared from there.
 */
#ifndef GNOMON_UNWIND_PATH_H
#define GNOMON_UNWIND_PATH_H

#include "unwind/claim.h"
#include "unwind/stack.h"

#define PATH_WORDS 64
#define PATH_WAYS 4
#define PATH_BLOCK 4

/* Words at sp + ARCH_HOOK_FP + offset * ARCH_WORD must equal value. */
struct path_block {
	uint16_t offset[PATH_BLOCK];
	uintptr_t value[PATH_BLOCK];
};

/*
 * One stack; the last block is filled up by repetition, so that no branch
 * depends on a word. The hook's own frame is among the words: the return
 * address, and the caller's frame pointer if the walk used it. The sp is
 * compared first: then all the words can be read (I1 of path.c).
 */
struct path {
	uint32_t context;
	uint16_t blocks;
	uint16_t reserved;
	uint32_t tail;		/* in the shadow's frames; 0: none */
	uint32_t reserved2;
	uintptr_t sp;
	uint64_t mark;		/* of the tail */
	uintptr_t slot;		/* of the tail */
	struct path_block block[PATH_WORDS / PATH_BLOCK];
} __attribute__((aligned(64)));

static inline uint64_t path_hash(uintptr_t ra, uintptr_t sp)
{
	return (ra ^ sp << 20) * UINT64_C(0x9e3779b97f4a7c15);
}

static inline uint64_t path_set(const struct capture_thread *t, uint64_t hash)
{
	return hash >> 32 & t->set_mask;
}

/* Never 0. */
static inline uint16_t path_tag(uint64_t hash)
{
	return (uint16_t)(hash >> 48 | 1);
}

static inline uintptr_t path_block_differs(const struct path_block *b,
					   const uintptr_t *stack)
{
	return (stack[b->offset[0]] ^ b->value[0]) |
	       (stack[b->offset[1]] ^ b->value[1]) |
	       (stack[b->offset[2]] ^ b->value[2]) |
	       (stack[b->offset[3]] ^ b->value[3]);
}

/* The words being equal, whether what lies outward of the tail is. */
bool path_tail_stands(const struct capture_thread *t, const struct path *p);

static inline bool path_tail_holds(const struct capture_thread *t,
				   const struct path *p)
{
	const struct shadow_frame *f = &t->frames[p->tail];

	if (p->tail >= t->count || f->mark != p->mark || f->slot != p->slot)
		return false;
	return __builtin_expect(p->mark & MARK_BARRIER, 1) ||
	       path_tail_stands(t, p);
}

/* Innermost block first, where stacks with the same key mostly differ; the
 * four words of a block without a branch between them: 0.4 ns a word. */
static inline __attribute__((always_inline)) bool
path_holds(const struct capture_thread *t, const struct path *p, uintptr_t sp)
{
	const uintptr_t *stack = (const uintptr_t *)(sp + ARCH_HOOK_FP);
	const struct path_block *b = p->block, *end = b + p->blocks;

	CLAIM_FULL(p->blocks > 0 && p->blocks <= PATH_WORDS / PATH_BLOCK);
	if (p->sp != sp)
		return false;
	do {
		if (path_block_differs(b, stack))
			return false;
	} while (++b < end);
	return p->tail == 0 || path_tail_holds(t, p);
}

/*
 * Its context, or 0. The caller has checked the generation. Plain branches:
 * they are predicted from the calls that led here, and the comparison need not
 * wait for the tags. (Choosing the way without a branch cost 8 ns more.)
 */
static inline __attribute__((always_inline)) uint32_t
path_find(const struct capture_thread *t, uintptr_t ra, uintptr_t sp)
{
	uint64_t hash = path_hash(ra, sp), set = path_set(t, hash);
	const struct path *p = t->paths + set * PATH_WAYS;
	const uint16_t *tags = t->tags + set * PATH_WAYS;
	uint16_t tag = path_tag(hash);
	unsigned w;

#pragma GCC unroll 4
	for (w = 0; w < PATH_WAYS; w++)
		if (tags[w] == tag && path_holds(t, &p[w], sp))
			return p[w].context;
	return 0;
}

/* 0 or -ENOMEM. */
int path_init(struct capture_thread *t);

/* Forgets all. */
void path_clear(struct capture_thread *t);

/* See path_learn. `frames` frames of the scratch, where the stack is foreign;
 * 0: what the shadow holds. */
void path_learn_slow(struct capture_thread *t, uint64_t hash, uintptr_t sp,
		     uint32_t context, uint32_t frames);

/*
 * Remembers the stack that was walked last, if it was met before: what
 * comes but once does not push out what repeats. The filter is half a word for
 * each hash: of the context that came there last. (It is small rather than
 * exact: a stack learned for nothing does no harm.)
 */
static inline void path_learn(struct capture_thread *t, uintptr_t ra,
			      uintptr_t sp, uint32_t context, uint32_t frames)
{
	uint64_t hash = path_hash(ra, sp);
	uint64_t h = hash ^ context * UINT64_C(0xc2b2ae3d27d4eb4f);
	uint16_t *seen = &t->seen[h >> 40 & t->seen_mask];

	CLAIM_FULL(!(t->seen_mask & (t->seen_mask + 1)));
	if (++t->path_misses > t->path_patience || *seen == (uint16_t)context)
		path_learn_slow(t, hash, sp, context, frames);
	else
		*seen = (uint16_t)context;
}

/* Whether the stack was met before, as path_learn would find: then it is to be
 * walked so that it can be remembered. Else it is known as met once. */
static inline bool path_wanted(struct capture_thread *t, uintptr_t ra,
			       uintptr_t sp, uint32_t context)
{
	uint64_t h = path_hash(ra, sp) ^
		     context * UINT64_C(0xc2b2ae3d27d4eb4f);
	uint16_t *seen = &t->seen[h >> 40 & t->seen_mask];

	if (*seen == (uint16_t)context)
		return true;
	*seen = (uint16_t)context;
	return ++t->path_misses > t->path_patience;
}

/* Masks, ways in use, and what each of them holds (I2). */
bool path_is_valid(const struct capture_thread *t);

#endif
