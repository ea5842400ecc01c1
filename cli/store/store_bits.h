/*
 * store_bits.h: packs STORE_BITS numbers of equal width so that any SIMD unit
 * can unpack them without a shuffle. Number i is in lane i % STORE_LANES. The
 * numbers of a lane follow each other bit by bit, from the lowest bit of a word
 * on. Words of the lanes alternate.
 *
 *	words[k * STORE_LANES + lane]    word k of a lane
 *
 * A block takes `width` words of each lane: no bit is unused. (Lemire, Boytsov:
 * "Decoding billions of integers per second through vectorization", 2015, with
 * lanes of 32 bits.)
 */
#ifndef GNOMON_STORE_BITS_H
#define GNOMON_STORE_BITS_H

#include <stddef.h>
#include <stdint.h>

#define STORE_BITS 1024		/* numbers in a block */
#define STORE_LANES 16

/* Words of a packed block. */
static inline size_t store_bits_words(unsigned width)
{
	return (size_t)width * STORE_LANES;
}

/* Bits that a number needs, 0 … 64. */
static inline unsigned store_bits_width(uint64_t number)
{
	return number == 0 ? 0 : 64 - (unsigned)__builtin_clzll(number);
}

/* Packs the low `width` bits of each of STORE_BITS numbers into
 * store_bits_words(width) words. */
void store_bits_pack(const uint64_t *numbers, unsigned width, uint64_t *words);
/* The inverse: base + (number << shift). `shift` is below 64, `width` at most
 * 64. */
void store_bits_unpack(const uint64_t *words, unsigned width, unsigned shift,
		       uint64_t base, uint64_t *numbers);

#endif
