/*
 * rule_cache.h: from a return address to a rule by one load.
 *
 * In front of the rule tables stands one process-wide cache of 8-byte words,
 * each read and written whole, in sets of two. A return address, turned to the
 * right by ARCH_CODE_SHIFT, is cut into its low INDEX_BITS, which are the set, and
 * the rest, which is stored, so a hit is exact. The word also holds the rule itself, so that one
 * load leads from a return address to the next frame:
 *
 *	63            30 29  28  27                          0
 *	+---------------+---+---+-----------------------------+
 *	| address >> 13 | 1 | 0 |   frame, by sp: rule_word.h |
 *	| address >> 13 | 0 | 1 |   frame, by fp              |
 *	| address >> 13 | 0 | 0 |   others       |   rule id  |
 *	+---------------+---+---+-----------------------------+
 *
 * A word of 0 is an empty place: it belongs to addresses below 1 << 13, where
 * no code is, and is not of the first kind. (Twice the sets were no faster in
 * programs that need them, and took twice the room in the processor's cache.)
 *
 * A frame costs what one load waits for the other, and what lies between them.
 * So the set is a mask of the address and no more, the ways of a set lie in two
 * arrays, that the place of the first is that mask and a scale, and cfa_off is
 * the word's lowest part: 3.7 ns a frame, where the exclusive or of address and
 * rest, ways beside each other and a mask of the rule took 4.9.
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
/* In words of neither kind. */
#define WORD_END (1u << 27)	/* the outermost frame */
#define WORD_NO_IMAGE (1u << 26)
#define WORD_STUB (1u << 25)	/* a barrier's stub */
#define WORD_JOIN (1u << 24)	/* in no word: see walk.c, step_plain */
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

/* Where its fp was saved, as arch_rule_fp_at takes it; 0: it was not. */
static inline __attribute__((always_inline)) uintptr_t rule_saved(uint32_t rule)
{
	return rule >> ARCH_RULE_FP_SHIFT & ARCH_RULE_FP_MAX;
}

/* Places and words are found by this number. Of what is no address of an
 * instruction the lowest bits become the highest: such a word is nowhere. */
static inline __attribute__((always_inline)) uintptr_t rule_key(uintptr_t ra)
{
	return ARCH_CODE_SHIFT ? ra >> ARCH_CODE_SHIFT |
				 ra << (8 * sizeof(ra) - ARCH_CODE_SHIFT) % (8 * sizeof(ra)) :
				 ra;
}

/* Looks the rule up and fills the place `at`. */
uint32_t rule_cache_miss(uintptr_t ra, _Atomic uint64_t *at);

/* Whether a frame is the outermost one: its rule says so, or has no word for it
 * and it lies at a made-up start. sp: of the function that was called there. */
bool rule_is_outermost(uint32_t rule, uintptr_t sp);

/* The lower bits of the word for a return address, and two of the address. */
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
