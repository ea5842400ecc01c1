/*
 * words.h (AArch64): compares words in few instructions, by Advanced SIMD,
 * which every AArch64 processor has.
 */
#ifndef GNOMON_ARCH_WORDS_H
#define GNOMON_ARCH_WORDS_H

#include <arm_neon.h>

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
	uint64x2_t low = veorq_u64(vld1q_u64(base + at[0]), vld1q_u64(value));
	uint64x2_t high = veorq_u64(vld1q_u64(base + at[1]),
				    vld1q_u64(value + 2));
	uint64x2_t differ = vorrq_u64(low, high);

	return !(vgetq_lane_u64(differ, 0) | vgetq_lane_u64(differ, 1));
}

/* Which of eight words, a cache line, have this upper half: bit 2 i + 1 for the
 * i-th. Other threads may write them. */
static inline __attribute__((always_inline)) uint32_t
arch_tags_are(const _Atomic uint64_t *word, uint32_t tag)
{
	static const uint16_t bits[8] = { 2, 8, 32, 128, 512, 2048, 8192,
					  32768 };
	const uint32_t *at = (const uint32_t *)(uintptr_t)word;
	uint32x4_t all = vdupq_n_u32(tag);
	uint32x4_t low = vceqq_u32(vuzp2q_u32(vld1q_u32(at),
					      vld1q_u32(at + 4)), all);
	uint32x4_t high = vceqq_u32(vuzp2q_u32(vld1q_u32(at + 8),
					       vld1q_u32(at + 12)), all);
	uint16x8_t equal = vcombine_u16(vmovn_u32(low), vmovn_u32(high));

	return vaddvq_u16(vandq_u16(equal, vld1q_u16(bits)));
}

#endif
