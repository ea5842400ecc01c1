/*
 * path.h: whole stacks remembered by (return address, sp) at the hook, each
 * with every word its walk read. All equal: the stack is the same.
 */
#ifndef GNOMON_UNWIND_PATH_H
#define GNOMON_UNWIND_PATH_H

#include "unwind/stack.h"

#define PATH_WORDS 64	/* deeper stacks are left to the shadow */
#define PATH_WAYS 2

/*
 * One stack: words at sp + offset[i] * ARCH_WORD must equal value[i]. The
 * count is filled up by repetition to one of a few sizes, so that the end of
 * the loop is predicted although depths vary; no branch depends on a word. fp_mask is all ones if the walk used the frame
 * pointer as the hook found it, else 0.
 */
struct path {
	uintptr_t ra, sp;
	uintptr_t fp, fp_mask;
	uint32_t context;
	uint32_t words;
	uint64_t spare[3];
	uint16_t offset[PATH_WORDS];
	uintptr_t value[PATH_WORDS];
};

struct path_set {
	struct path way[PATH_WAYS];
} __attribute__((aligned(64)));

static inline struct path_set *path_set_of(const struct capture_thread *t,
					   uintptr_t ra, uintptr_t sp)
{
	uint64_t h = (ra ^ sp << 20) * UINT64_C(0x9e3779b97f4a7c15);

	return &t->sets[h >> 32 & t->set_mask];
}

/* Independent loads, no branch per word: some 0.4 ns a word. */
static inline bool path_holds(const struct path *p, uintptr_t sp,
			      uintptr_t fp)
{
	const uintptr_t *stack = (const uintptr_t *)sp;
	uintptr_t bad = (fp ^ p->fp) & p->fp_mask, bad2 = 0;
	uint32_t i, n = p->words;

	for (i = 0; i < n; i += 4) {
		bad |= stack[p->offset[i]] ^ p->value[i];
		bad2 |= stack[p->offset[i + 1]] ^ p->value[i + 1];
		bad |= stack[p->offset[i + 2]] ^ p->value[i + 2];
		bad2 |= stack[p->offset[i + 3]] ^ p->value[i + 3];
	}
	return (bad | bad2) == 0;
}

/*
 * Its context, or 0. The caller has checked t->generation. The way is chosen
 * without a branch, since which it is nobody can predict; only if both have
 * the key (two stacks that differ further out) the other is tried as well.
 */
static inline uint32_t path_find(const struct capture_thread *t, uintptr_t ra,
				 uintptr_t sp, uintptr_t fp)
{
	const struct path *way = path_set_of(t, ra, sp)->way;
	uintptr_t miss = (way[0].ra ^ ra) | (way[0].sp ^ sp);
	const struct path *p = miss ? &way[1] : &way[0];

	if (((p->ra ^ ra) | (p->sp ^ sp)) == 0 && path_holds(p, sp, fp))
		return p->context;
	p = &way[1];
	if (!miss && p->ra == ra && p->sp == sp && path_holds(p, sp, fp))
		return p->context;
	return 0;
}

/* 0 or -ENOMEM. */
int path_init(struct capture_thread *t);

/* Forgets all. */
void path_clear(struct capture_thread *t);

/*
 * Remembers the stack that the shadow holds, if it was met before: what
 * comes but once does not push out what repeats.
 */
void path_learn(struct capture_thread *t, uintptr_t sp, uintptr_t fp,
		uint32_t context);

#endif
