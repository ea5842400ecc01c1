/*
 * path.h: the path cache: whole stacks, found by (return address, sp) of the
 * hook, each with the stack words that its walk read. If all words are equal,
 * the stack is the same.
 *
 *	keys	for each way the address of its hook's frame (sp +
 *		ARCH_HOOK_FP), 0 if it is empty; PATH_WAYS a set, which the
 *		return address and the key select
 *	paths	one for each key
 *
 * so that a lookup without a hit touches one line of a small array.
 *
 * The list of words ends with the outermost frame, or at a frame of the shadow,
 * the path's tail. The tail is the first barrier, whose stub proves that all
 * frames further out are as in the shadow. Or, if the list would get too long,
 * the tail is any frame, and the shadow's own words are compared from there.
 */
#ifndef GNOMON_UNWIND_PATH_H
#define GNOMON_UNWIND_PATH_H

#include <stddef.h>

#include "unwind/base/assertion.h"
#include "unwind/rule_cache.h"
#include "unwind/stack.h"

#define PATH_WORDS 52	/* nine cache lines */
#define PATH_FULL (PATH_WORDS - PATH_BLOCK)	/* the remainder completes
						 * blocks */
#define PATH_WAYS 4
#define PATH_BLOCK 4
#define PATH_MORE 2	/* see struct path */
#define PATH_OFFSETS (PATH_BLOCK * sizeof(uint16_t))	/* bytes of a block's
							 * offsets */

/*
 * One stack: words at key + offset * ARCH_WORD that must equal value, in blocks
 * of PATH_BLOCK:
 *
 *	| single words, outermost first ▶ |  | ◀ pairs, innermost first |
 *
 * Two adjacent words, such as a saved frame pointer and a return address, form
 * a pair, unless they are the innermost. A block holds two pairs, each a word
 * and the one behind it; its offset PATH_MORE is not 0 if another block of
 * pairs follows. Blocks are completed by repetition, so that no branch depends
 * on a word. The words include the hook's own frame: the return address, and
 * the caller's frame pointer if the walk used it. The key is compared first:
 * equality proves that all words are readable (I1 of path.c).
 */
struct path {
	uint64_t mark;		/* of the tail */
	uintptr_t slot;		/* of the tail, if that is a barrier */
	uintptr_t far;		/* of the tail, if that is no barrier */
	uint32_t context;
	uint32_t tail;		/* in the shadow's frames; 0: none */
	uint32_t tail_words;	/* the same, in words */
	/* in bytes of `offset`: the end of single words (at least one block),
	 * and the start of pairs */
	uint16_t singles_end;
	uint16_t pairs;
	bool paired;		/* there are pairs */
	_Alignas(8) uint16_t offset[PATH_WORDS];	/* no block in two lines */
	_Alignas(16) uintptr_t value[PATH_WORDS];
} __attribute__((aligned(64)));

#define PATH_SET (PATH_WAYS * sizeof(uintptr_t))	/* bytes of keys */

static inline uintptr_t path_key(uintptr_t sp)
{
	return sp + ARCH_HOOK_FP;
}

/* (The multiplier fits into an instruction.) */
static inline uint64_t path_hash(uintptr_t ra, uintptr_t key)
{
	return key * UINT64_C(0x5bd1e995) + ra;
}

/* The byte offset of the set's keys: the return address takes part from bit 5
 * on. */
static inline uint64_t path_set(const struct capture_thread *t, uint64_t hash)
{
	return hash & t->set_mask;
}

static inline const uint16_t *path_offsets(const struct path *p, uintptr_t at)
{
	return (const uint16_t *)((uintptr_t)p->offset + at);
}

static inline const uintptr_t *path_values(const struct path *p, uintptr_t at)
{
	return (const uintptr_t *)
		((uintptr_t)p->value + at * (ARCH_WORD / sizeof(uint16_t)));
}

/* Compares from the innermost word, where stacks with the same key mostly
 * differ. */
static inline __attribute__((always_inline)) bool
path_singles_equal(const struct path *p, const uintptr_t *stack)
{
	return arch_blocks_equal(stack, p, offsetof(struct path, offset),
				 offsetof(struct path, value), p->singles_end);
}

static inline __attribute__((always_inline)) bool
path_pairs_equal(const struct path *p, const uintptr_t *stack)
{
	uintptr_t at = p->pairs - PATH_OFFSETS;

	do {
		at += PATH_OFFSETS;
		if (!arch_pairs_equal(stack, path_offsets(p, at),
				      path_values(p, at)))
			return false;
	} while (path_offsets(p, at)[PATH_MORE]);
	return true;
}

static inline __attribute__((always_inline)) bool
path_words_equal(const struct path *p, uintptr_t key)
{
	const uintptr_t *stack = (const uintptr_t *)key;

	DEBUG_ASSERT(p->singles_end > 0);
	return path_singles_equal(p, stack) &&
	       (__builtin_expect(!p->paired, 1) ||
		path_pairs_equal(p, stack));
}

/*
 * An allocator wrapper (xmalloc) has one return address and few stack pointers
 * for thousands of stacks. If a set was full of them, the return address is
 * stored as a wrapper's, with the distance from the key to the next return
 * address outward. From then on that address takes part in selecting the set.
 * Of wrappers that share an entry the first one stays, until path_clear.
 */

/* Its index in `wrappers`. */
static inline size_t path_wrapper(uintptr_t ra)
{
	return ra / 16 % WRAPPERS;
}

/* The hash that selects a stack's set. */
static inline uint64_t path_choice(const struct capture_thread *t, uintptr_t ra,
				   uintptr_t key)
{
	const struct path_wrapper *w = &t->wrappers[path_wrapper(ra)];
	uint64_t hash = path_hash(ra, key);
	uintptr_t at;

	if (__builtin_expect(w->ra != ra, 1))
		return hash;
	at = key + w->distance;
	if (__builtin_expect(key < t->lo || at >= t->hi, 0))
		return hash;
	return hash + *(const uintptr_t *)at * UINT64_C(0x5bd1e995);
}

/*
 * The first path whose words are all equal, or NULL. The caller has checked the
 * generation. The branches are predicted from the calls that led here, so the
 * comparison need not wait for the keys. (Selecting the way without a branch
 * cost 8 ns more.)
 */
static inline __attribute__((always_inline)) const struct path *
path_match(const struct capture_thread *t, uintptr_t ra, uintptr_t key)
{
	uintptr_t set = path_set(t, path_choice(t, ra, key));
	const uintptr_t *keys = (const uintptr_t *)((uintptr_t)t->keys + set);
	const struct path *p = (const struct path *)
		((uintptr_t)t->paths +
		 set * (PATH_WAYS * sizeof(struct path) / PATH_SET));

	do {
		if (__builtin_expect(*keys == key, 1) &&
		    path_words_equal(p, key))
			return p;
		p++;
	} while ((uintptr_t)++keys % PATH_SET);
	return NULL;
}

/*
 * Given equal words: whether the stack is the path's, because it ends with
 * them, or because the shadow has the barrier that is its tail (I3 of path.c).
 * False: path_find_slow decides.
 */
static inline __attribute__((always_inline)) bool
path_ends_simply(const struct capture_thread *t, const struct path *p)
{
	const struct shadow_frame *f = (const struct shadow_frame *)
		((const uintptr_t *)t->frames + p->tail_words);

	return __builtin_expect(p->tail == 0, 1) ||
	       (p->tail < t->count && f->mark == p->mark && f->slot == p->slot);
}

/* The path whose words are all equal and whose tail matches the stack; NULL:
 * none. */
const struct path *path_find_slow(const struct capture_thread *t, uintptr_t ra,
				  uintptr_t sp);

static inline __attribute__((always_inline)) const struct path *
path_find(const struct capture_thread *t, uintptr_t ra, uintptr_t sp)
{
	const struct path *p = path_match(t, ra, path_key(sp));

	if (!p || __builtin_expect(path_ends_simply(t, p), 1))
		return p;
	return path_find_slow(t, ra, sp);
}

/* 0 or -ENOMEM. */
int path_init(struct capture_thread *t);

/* Forgets all. */
void path_clear(struct capture_thread *t);

/* See path_learn. `frames`: the number of frames in scratch, if the stack is
 * foreign; 0: the frames are the shadow's. */
void path_learn_slow(struct capture_thread *t, uintptr_t ra, uintptr_t sp,
		     uint32_t context, uint32_t frames);

/* The filter's word for a stack: half of the context that was last stored
 * there. (It is small rather than exact: learning a stack for nothing is
 * harmless.) */
static inline uint16_t *path_seen(const struct capture_thread *t, uint64_t hash,
				  uint32_t context)
{
	uint64_t h = (hash ^ (uint64_t)context << 32) *
		     UINT64_C(0xc2b2ae3d27d4eb4f);

	DEBUG_ASSERT(!(t->seen_mask & (t->seen_mask + 1)));
	return &t->seen[h >> 40 & t->seen_mask];
}

/*
 * Stores the last walked stack, if it was captured before: stacks that occur
 * only once do not evict those that repeat.
 */
static inline void path_learn(struct capture_thread *t, uintptr_t ra,
			      uintptr_t sp, uint32_t context, uint32_t frames)
{
	uint16_t *seen = path_seen(t, path_hash(ra, path_key(sp)), context);

	if (++t->path_misses > t->path_patience || *seen == (uint16_t)context)
		path_learn_slow(t, ra, sp, context, frames);
	else
		*seen = (uint16_t)context;
}

/* Whether path_learn would store the stack, so that walking it for that pays.
 * If not, counts it as captured once. */
static inline bool path_wanted(struct capture_thread *t, uintptr_t ra,
			       uintptr_t sp, uint32_t context)
{
	uint16_t *seen = path_seen(t, path_hash(ra, path_key(sp)), context);

	if (*seen == (uint16_t)context)
		return true;
	*seen = (uint16_t)context;
	return ++t->path_misses > t->path_patience;
}

/* Checks masks, the ways in use and the contents of each (I2). */
bool path_is_valid(const struct capture_thread *t);

#endif
