/*
 * weight.h: the sample weight: how many blocks and bytes a block counts for in
 * sums: itself, or more in a sample.
 *
 * In a Poisson sample of the allocated bytes with a mean distance M, a block of
 * n bytes is found with the probability 1 - exp(-n / M): it stands for 1 / (1 -
 * exp(-n / M)) blocks of its size. Sums of these weights are in fixed point, so
 * no rounding errors accumulate. The weight is a function of the size, so the
 * end of a block subtracts exactly what its allocation added. If all blocks are
 * recorded (M is 0), sums are plain integers.
 *
 * No state.
 */
#ifndef GNOMON_WEIGHT_H
#define GNOMON_WEIGHT_H

#include <stdint.h>

/* Fraction bits of a sample's sums. */
#define WEIGHT_BLOCK_BITS 16
#define WEIGHT_BYTE_BITS 8

/* The number of allocations between two sampled ones is not known. This value
 * is so large that no block counts as temporary. */
#define WEIGHT_BETWEEN (1u << 12)

struct weight_amount {
	uint64_t blocks, bytes;
};

/* M is not 0. */
struct weight_amount weight_sampled(uint64_t size, uint64_t mean);

static inline struct weight_amount weight_block(uint64_t size, uint64_t mean)
{
	return __builtin_expect(mean == 0, 1) ?
		(struct weight_amount){ 1, size } : weight_sampled(size, mean);
}

static inline unsigned weight_block_bits(uint64_t mean)
{
	return mean ? WEIGHT_BLOCK_BITS : 0;
}

static inline unsigned weight_byte_bits(uint64_t mean)
{
	return mean ? WEIGHT_BYTE_BITS : 0;
}

/* A sum as a whole number: `lead` is added to the fraction bits. */
static inline uint64_t weight_whole(uint64_t sum, unsigned bits, uint64_t lead)
{
	return (sum + (lead & ((UINT64_C(1) << bits) - 1))) >> bits;
}

/* The lead that rounds to the nearest number. */
static inline uint64_t weight_half(unsigned bits)
{
	return (UINT64_C(1) << bits) / 2;
}

/*
 * Whole numbers from a sum that comes in pieces: the fraction of a piece is
 * carried to the next.
 */
static inline uint64_t weight_next(uint64_t piece, unsigned bits,
				   uint16_t *rest)
{
	uint64_t mask = (UINT64_C(1) << bits) - 1;
	uint64_t sum = piece + (*rest & mask);

	*rest = (uint16_t)(sum & mask);
	return sum >> bits;
}

/* The lifetime in ticks, times the weighted number of blocks. */
uint64_t weight_lifetime(uint64_t ticks, uint64_t blocks, uint64_t mean);

#endif
