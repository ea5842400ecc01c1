/*
 * words.h (ARM): words compared by plain C: not all processors of this kind have
 * vectors.
 */
#ifndef GNOMON_ARCH_WORDS_H
#define GNOMON_ARCH_WORDS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The halves one after the other: who writes such a word writes all of it, and a
 * reader of half the old one finds no match, or one that was there. */
static inline __attribute__((always_inline)) uint32_t
arch_half_word(const _Atomic uint64_t *word, unsigned high)
{
	return __atomic_load_n((const uint32_t *)(uintptr_t)word + high,
			       __ATOMIC_RELAXED);
}

static inline __attribute__((always_inline)) bool
arch_word_is(const _Atomic uint64_t *word, uint64_t value)
{
	return atomic_load_explicit(word, memory_order_relaxed) == value;
}

/* Whether any of these bits is set in it. */
static inline __attribute__((always_inline)) bool
arch_word_has(const _Atomic uint64_t *word, uint32_t bits)
{
	return arch_half_word(word, 0) & bits;
}

/*
 * Whether base[at[i]] is value[i] for all i, in blocks of four, from the last to
 * the first. `at` and `value` are constants: where they lie, in bytes from
 * `list` on. `size`: bytes of `at`, more than 0, those of whole blocks.
 */
static inline __attribute__((always_inline)) bool
arch_blocks_equal(const uintptr_t *base, const void *list, size_t at,
		  size_t value, uint64_t size)
{
	const char *bytes = list;
	size_t left = (size_t)size;

	do {
		const uint16_t *o;
		const uintptr_t *v;

		left -= 4 * sizeof(*o);
		o = (const uint16_t *)(bytes + at + left);
		v = (const uintptr_t *)(bytes + value + left * 2);
		if ((base[o[0]] ^ v[0]) | (base[o[1]] ^ v[1]) |
		    (base[o[2]] ^ v[2]) | (base[o[3]] ^ v[3]))
			return false;
	} while (left);
	return true;
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

/* Which of eight words, a cache line, have this upper half: of the i-th, bit
 * 2 i + 1. Others may write them. */
static inline __attribute__((always_inline)) uint32_t
arch_tags_are(const _Atomic uint64_t *word, uint32_t tag)
{
	uint32_t found = 0;
	unsigned i;

	for (i = 0; i < 8; i++)
		found |= (uint32_t)(arch_half_word(word + i, 1) == tag)
			 << (2 * i + 1);
	return found;
}

#endif
