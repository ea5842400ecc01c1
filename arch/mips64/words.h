/*
 * words.h (MIPS64): compares words one by one: few processors have vectors
 * (MSA).
 */
#ifndef GNOMON_ARCH_WORDS_H
#define GNOMON_ARCH_WORDS_H

#include "arch/words_plain.def"

/* Whether any of these bits is set in the word. */
static inline __attribute__((always_inline)) bool
arch_word_has(const _Atomic uint64_t *word, uint32_t bits)
{
	return atomic_load_explicit(word, memory_order_relaxed) & bits;
}

/* Whether base[at[0]], the word behind it, base[at[1]], the word behind it,
 * are value[0] … value[3]. */
static inline __attribute__((always_inline)) bool
arch_pairs_equal(const uintptr_t *base, const uint16_t *at,
		 const uintptr_t *value)
{
	const uintptr_t *low = base + at[0], *high = base + at[1];

	return !((low[0] ^ value[0]) | (low[1] ^ value[1]) |
		 (high[0] ^ value[2]) | (high[1] ^ value[3]));
}

/* Which of eight words, a cache line, have this upper half: bit 2 i + 1 for the
 * i-th. Other threads may write them. */
static inline __attribute__((always_inline)) uint32_t
arch_tags_are(const _Atomic uint64_t *word, uint32_t tag)
{
	uint32_t equal = 0;
	unsigned i;

	for (i = 0; i < 8; i++) {
		uint64_t value = atomic_load_explicit(&word[i],
						      memory_order_relaxed);

		equal |= (uint32_t)(value >> 32 == tag) << (2 * i + 1);
	}
	return equal;
}

#endif
