/*
 * rule_cache.h: a cache from return address to rule, with one load for a hit.
 *
 * One process-wide cache of 8-byte words precedes the rule tables. Words are
 * read and written atomically and lie in sets of two. The return address is
 * rotated right by ARCH_CODE_SHIFT. Its low INDEX_BITS select the set; the word
 * stores the upper bits, so a hit is exact. The word also holds the rule
 * itself: one load leads from a return address to the next frame:
 *
 *	63            30 29  28  27                          0
 *	+---------------+---+---+-----------------------------+
 *	| address >> 13 | 1 | 0 |   CFA from sp: rule_word.h  |
 *	| address >> 13 | 0 | 1 |   CFA from fp               |
 *	| address >> 13 | 0 | 0 |   flags        |   rule id  |
 *	+---------------+---+---+-----------------------------+
 *
 * A word of 0 is an empty entry: it matches addresses below 1 << 13, where no
 * code is, and is not of the first kind. (Twice as many sets were no faster in
 * programs that need them, and took twice the room in the processor's cache.)
 *
 * The cost of a frame is the latency of its dependent loads and of the
 * instructions between them. So the set is just a mask of the address, the two
 * ways of a set lie in two arrays, the first way's address is that mask scaled,
 * and cfa_off is the lowest part of the word: 3.7 ns a frame. An exclusive or
 * of address and upper bits, adjacent ways and a mask for the rule took 4.9 ns.
 */
#ifndef GNOMON_UNWIND_RULE_CACHE_H
#define GNOMON_UNWIND_RULE_CACHE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "arch.h"

#define INDEX_BITS 13
#define INDEX_MASK ((1u << INDEX_BITS) - 1)
#define HIGH_SHIFT 30
#define WORD_PLAIN (1u << 29)
#define WORD_FP (1u << 28)
/* Flags in words of neither kind. */
#define WORD_END (1u << 27)	/* the outermost frame */
#define WORD_NO_IMAGE (1u << 26)
#define WORD_STUB (1u << 25)	/* a barrier's stub */
#define WORD_JOIN (1u << 24)	/* never stored: see walk.c, step_plain */
#define WORD_ID 0xffff
#define PAYLOAD_MASK ((1u << HIGH_SHIFT) - 1)

/* Set once, by walk_init. */
extern __attribute__((visibility("hidden")))
_Atomic uint64_t *rule_cache;

_Static_assert(ARCH_ADDRESS_BITS - ARCH_CODE_SHIFT - INDEX_BITS <=
		       64 - HIGH_SHIFT, "a hit is exact");

static inline __attribute__((always_inline)) bool rule_is_stub(uint32_t rule)
{
	return rule & WORD_STUB &&
	       (!ARCH_LINK_REGISTER || !(rule & (WORD_PLAIN | WORD_FP)));
}

/* A frame's size, in ARCH_RULE_UNIT. */
static inline __attribute__((always_inline)) uintptr_t rule_size(uint32_t rule)
{
	return rule & ARCH_RULE_SIZE_MAX;
}

/* Where the caller's fp was saved, as arch_rule_fp_at takes it; 0: not
 * saved. */
static inline __attribute__((always_inline)) uintptr_t rule_saved(uint32_t rule)
{
	return rule >> ARCH_RULE_FP_SHIFT & ARCH_RULE_FP_MAX;
}

/* The key of entries. Unless ra is an aligned instruction address, its lowest
 * bits become the highest: such a key matches no word. */
static inline __attribute__((always_inline)) uintptr_t rule_key(uintptr_t ra)
{
	return ARCH_CODE_SHIFT ? ra >> ARCH_CODE_SHIFT |
				 ra << (8 * sizeof(ra) - ARCH_CODE_SHIFT) % (8 * sizeof(ra)) :
				 ra;
}

/* Looks the rule up and fills the entry `at`. */
uint32_t rule_cache_miss(uintptr_t ra, _Atomic uint64_t *at);

/* Whether a frame is the outermost one: its rule says so, or it has no table
 * entry and lies at the end of the stack (walk_at_stack_end). sp: the stack
 * pointer after the return to this frame. */
bool rule_is_outermost(uint32_t rule, uintptr_t sp);

/* The lower bits of the word for a return address, plus two of the address. */
static inline __attribute__((always_inline)) uint32_t
rule_of(_Atomic uint64_t *words, uintptr_t ra)
{
	uintptr_t key = rule_key(ra);
	_Atomic uint64_t *at = &words[key & INDEX_MASK];
	uint64_t word = atomic_load_explicit(at, memory_order_relaxed);

	if (__builtin_expect(word >> HIGH_SHIFT == key >> INDEX_BITS, 1))
		return (uint32_t)word;
	word = atomic_load_explicit(&at[INDEX_MASK + 1], memory_order_relaxed);
	if (word >> HIGH_SHIFT == key >> INDEX_BITS)
		return (uint32_t)word;
	return rule_cache_miss(ra, at);
}

#endif
