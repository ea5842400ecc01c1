/*
 * weigh.h: what a block stands for in sums: itself, or of a sample, more than
 * that.
 *
 * In a Poisson sample of the allocated bytes with a mean distance M a block of
 * n bytes is found with the probability 1 - exp(-n / M): it stands for
 * 1 / (1 - exp(-n / M)) blocks of its size. Sums of that are kept in fixed
 * point, so that no rounding adds up; and the weight is a function of the size,
 * so the end of a block takes away what its beginning brought. Where all blocks
 * are recorded (M is 0) sums are what they are.
 *
 * No state.
 */
#ifndef GNOMON_WEIGH_H
#define GNOMON_WEIGH_H

#include <stdint.h>

/* Of a sample's sums, below the point. */
#define WEIGH_BLOCK_BITS 16
#define WEIGH_BYTE_BITS 8

/* How many allocations lie between two of a sample nobody knows: so many that
 * nothing is taken for temporary. */
#define WEIGH_BETWEEN (1u << 12)

struct weigh_amount {
	uint64_t blocks, bytes;
};

/* M is not 0. */
struct weigh_amount weigh_sampled(uint64_t size, uint64_t mean);

static inline struct weigh_amount weigh_block(uint64_t size, uint64_t mean)
{
	return __builtin_expect(mean == 0, 1) ?
		(struct weigh_amount){ 1, size } : weigh_sampled(size, mean);
}

static inline unsigned weigh_block_bits(uint64_t mean)
{
	return mean ? WEIGH_BLOCK_BITS : 0;
}

static inline unsigned weigh_byte_bits(uint64_t mean)
{
	return mean ? WEIGH_BYTE_BITS : 0;
}

/* A sum as a whole number: `lead` is added to what is below the point. */
static inline uint64_t weigh_whole(uint64_t sum, unsigned bits, uint64_t lead)
{
	return (sum + (lead & ((UINT64_C(1) << bits) - 1))) >> bits;
}

/* The lead that rounds to the nearest. */
static inline uint64_t weigh_half(unsigned bits)
{
	return (UINT64_C(1) << bits) / 2;
}

/*
 * Whole numbers from a sum that comes piece by piece: what is left of a piece
 * goes with the next one.
 */
static inline uint64_t weigh_next(uint64_t piece, unsigned bits,
				  uint16_t *rest)
{
	uint64_t mask = (UINT64_C(1) << bits) - 1;
	uint64_t sum = piece + (*rest & mask);

	*rest = (uint16_t)(sum & mask);
	return sum >> bits;
}

/* Ticks of a lifetime, as often as the amount says. */
uint64_t weigh_lifetime(uint64_t ticks, uint64_t blocks, uint64_t mean);

#endif
