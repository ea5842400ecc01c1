/*
 * words.h (x86-64): compares words in few instructions: SSE2, which every
 * x86-64 processor has, and nothing newer.
 */
#ifndef GNOMON_ARCH_WORDS_H
#define GNOMON_ARCH_WORDS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A relaxed load and comparison in one instruction; compilers emit two. */
static inline __attribute__((always_inline)) bool
arch_word_is(const _Atomic uint64_t *word, uint64_t value)
{
	bool equal;

	__asm__ volatile("cmpq %2, %1"
			 : "=@cce"(equal)
			 : "m"(*word), "re"(value));
	return equal;
}

/* Whether any of these bits is set in the word, in one instruction. */
static inline __attribute__((always_inline)) bool
arch_word_has(const _Atomic uint64_t *word, uint32_t bits)
{
	bool has;

	__asm__ volatile("testl %2, %1"
			 : "=@ccnz"(has)
			 : "m"(*word), "re"(bits));
	return has;
}

typedef int arch_two_words __attribute__((vector_size(16), may_alias));
typedef int arch_two_words_anywhere
	__attribute__((vector_size(16), may_alias, aligned(8)));
typedef uintptr_t arch_words __attribute__((vector_size(16)));

/* value: four words at a 16-byte aligned address. */
static inline __attribute__((always_inline)) bool
arch_words_are(arch_two_words a, arch_two_words b, const uintptr_t *value)
{
	typedef float floats __attribute__((vector_size(16)));

	const arch_two_words *two = (const arch_two_words *)value;
	arch_two_words equal = (a == two[0]) & (b == two[1]);

	return __builtin_ia32_movmskps((floats)equal) == 15;
}

/*
 * Whether base[at[i]] is value[i] for all i, in blocks of four, from the last
 * to the first. `at` and `value` are constants: their offsets in bytes from
 * `list`; value is 16-byte aligned. `size`: bytes of `at`, more than 0, a
 * multiple of a block's.
 *
 * An assembler loop: compilers emit 17 to 20 instructions a block instead of
 * 16, and need more registers, which a hook then saves.
 */
static inline __attribute__((always_inline)) bool
arch_blocks_equal(const uintptr_t *base, const void *list, size_t at,
		  size_t value, uint64_t size)
{
	uint64_t word;
	arch_two_words low, high;
	bool equal;

	__asm__("1:\n\t"
		"movzwl %c[at]-8(%[list], %[size]), %k[word]\n\t"
		"movq (%[base], %[word], 8), %[low]\n\t"
		"movzwl %c[at]-6(%[list], %[size]), %k[word]\n\t"
		"movhps (%[base], %[word], 8), %[low]\n\t"
		"movzwl %c[at]-4(%[list], %[size]), %k[word]\n\t"
		"movq (%[base], %[word], 8), %[high]\n\t"
		"movzwl %c[at]-2(%[list], %[size]), %k[word]\n\t"
		"movhps (%[base], %[word], 8), %[high]\n\t"
		"pcmpeqd %c[value]-32(%[list], %[size], 4), %[low]\n\t"
		"pcmpeqd %c[value]-16(%[list], %[size], 4), %[high]\n\t"
		"pand %[high], %[low]\n\t"
		"movmskps %[low], %k[word]\n\t"
		"cmpl $15, %k[word]\n\t"
		"jne 2f\n\t"
		"subq $8, %[size]\n\t"
		"jne 1b\n"
		"2:"
		: "=@cce"(equal), [size] "+r"(size), [word] "=&r"(word),
		  [low] "=&x"(low), [high] "=&x"(high)
		: [base] "r"(base), [list] "r"(list), [at] "i"(at),
		  [value] "i"(value)
		: "memory");
	return equal;
}

/* Whether base[at[0]], the word behind it, base[at[1]], the word behind it,
 * are value[0] … value[3]. */
static inline __attribute__((always_inline)) bool
arch_pairs_equal(const uintptr_t *base, const uint16_t *at,
		 const uintptr_t *value)
{
	return arch_words_are(
		*(const arch_two_words_anywhere *)(base + at[0]),
		*(const arch_two_words_anywhere *)(base + at[1]), value);
}

/* Which of eight words, a cache line, have this upper half: bit 2 i + 1 for the
 * i-th. Other threads may write them. */
static inline __attribute__((always_inline)) uint32_t
arch_tags_are(const _Atomic uint64_t *word, uint32_t tag)
{
	typedef short shorts __attribute__((vector_size(16)));

	const arch_two_words *two = (const arch_two_words *)word;
	arch_two_words all = { (int)tag, (int)tag, (int)tag, (int)tag };
	shorts low = __builtin_ia32_packssdw128(two[0] == all, two[1] == all);
	shorts high = __builtin_ia32_packssdw128(two[2] == all, two[3] == all);

	return (uint32_t)__builtin_ia32_pmovmskb128(
		       __builtin_ia32_packsswb128(low, high)) & 0xaaaa;
}

#endif
