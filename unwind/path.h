/*
 * path.h: whole stacks remembered by (return address, sp) at the hook, each
 * with every word its walk read. All equal: the stack is the same.
 */
#ifndef GNOMON_UNWIND_PATH_H
#define GNOMON_UNWIND_PATH_H

#include "unwind/stack.h"

#define PATH_WORDS 64	/* deeper stacks are left to the shadow */
#define PATH_WAYS 4
#define PATH_BLOCK 4

struct path_key {
	uintptr_t ra, sp;
};

/* Words at sp + offset * ARCH_WORD must equal value. */
struct path_block {
	uint16_t offset[PATH_BLOCK];
	uintptr_t value[PATH_BLOCK];
};

/*
 * One stack; the last block is filled up by repetition, so that no branch
 * depends on a word. uses_fp: the walk used the frame pointer as the hook
 * found it.
 */
struct path {
	uint32_t context;
	uint16_t blocks;
	uint16_t uses_fp;
	uintptr_t fp;
	struct path_block block[PATH_WORDS / PATH_BLOCK];
};

/* The keys apart, so that a look-up touches one line before it knows which
 * stack to compare. */
struct path_set {
	struct path_key key[PATH_WAYS];
	struct path way[PATH_WAYS];
} __attribute__((aligned(64)));

static inline struct path_set *path_set_of(const struct capture_thread *t,
					   uintptr_t ra, uintptr_t sp)
{
	uint64_t h = (ra ^ sp << 20) * UINT64_C(0x9e3779b97f4a7c15);

	return &t->sets[h >> 32 & t->set_mask];
}

static inline uintptr_t path_block_differs(const struct path_block *b,
					   const uintptr_t *stack)
{
	return (stack[b->offset[0]] ^ b->value[0]) |
	       (stack[b->offset[1]] ^ b->value[1]) |
	       (stack[b->offset[2]] ^ b->value[2]) |
	       (stack[b->offset[3]] ^ b->value[3]);
}

/* Innermost block first, where stacks with the same key mostly differ; the
 * four words of a block without a branch between them: 0.4 ns a word. */
static inline bool path_holds(const struct path *p, uintptr_t sp,
			      uintptr_t fp)
{
	const uintptr_t *stack = (const uintptr_t *)sp;
	const struct path_block *b = p->block, *end = b + p->blocks;

	if ((fp ^ p->fp) & -(uintptr_t)p->uses_fp)
		return false;
	for (; b < end; b++)
		if (path_block_differs(b, stack))
			return false;
	return true;
}

static inline bool path_key_is(const struct path_key *k, uintptr_t ra,
			       uintptr_t sp)
{
	return ((k->ra ^ ra) | (k->sp ^ sp)) == 0;
}

/*
 * Its context, or 0. The caller has checked the generation. Plain branches:
 * they are predicted from the calls that led here, and the comparison need not
 * wait for the keys. (Choosing the way without a branch cost 8 ns more.)
 */
static inline uint32_t path_find(const struct capture_thread *t, uintptr_t ra,
				 uintptr_t sp, uintptr_t fp)
{
	const struct path_set *set = path_set_of(t, ra, sp);
	unsigned w;

	for (w = 0; w < PATH_WAYS; w++)
		if (path_key_is(&set->key[w], ra, sp) &&
		    path_holds(&set->way[w], sp, fp))
			return set->way[w].context;
	return 0;
}

/* 0 or -ENOMEM. */
int path_init(struct capture_thread *t);

/* Its size, bound and use. */
void path_describe(const struct capture_thread *t,
		   struct capture_thread_info *info);

/* Forgets all. */
void path_clear(struct capture_thread *t);

/*
 * Remembers the stack that the shadow holds, if it was met before: what
 * comes but once does not push out what repeats.
 */
void path_learn(struct capture_thread *t, uintptr_t sp, uintptr_t fp,
		uint32_t context);

#endif
