/*
 * choose.c: exponential distances in integer arithmetic. See choose.h.
 *
 * A distance is -ln(u) × mean for u uniform between 0 and 1, rounded up: a
 * block of n bytes reaches the point if n is at least the distance. The
 * exponential distribution has no memory: the rest of a distance is distributed
 * like a new one. So it does not matter where the blocks of a thread start, and
 * a new distance is drawn after each sampled block.
 *
 * -log2(u) is computed bit by bit: squaring a number between 1 and 2 doubles
 * its logarithm, and if the square reaches 2 the next bit is 1. An error of
 * 2^-31 in the number is one of 2^-31 in the logarithm at each step; 26 bits
 * are accurate to some 2^-26, a 30 millionth of a mean. That takes 100 ns, once
 * per half a megabyte.
 *
 * The generator is SplitMix64 (Steele, Lea, Flood, 2014): a mixed counter. It
 * needs one word of state, and passes the usual tests.
 */
#include "preload/ring/choose.h"

#include "unwind/claim.h"

#define CHOOSE_STEP UINT64_C(0x9e3779b97f4a7c15)
#define CHOOSE_BITS 26		/* of the logarithm's fraction */
#define CHOOSE_LN2 UINT64_C(0xb17217f8)	/* ln 2, in units of 2^-32 */

uint64_t choose_mix(uint64_t x)
{
	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

static uint64_t choose_random(struct choose *choose)
{
	choose->random += CHOOSE_STEP;
	return choose_mix(choose->random);
}

/* -log2(x / 2^64) for x > 0, with CHOOSE_BITS of fraction. */
static uint64_t choose_log2(uint64_t x)
{
	unsigned zeros = (unsigned)__builtin_clzll(x), bit;
	uint64_t number = x << zeros >> 32;	/* 1 … 2, in units of 2^-31 */
	uint64_t fraction = 0;

	CLAIM_FULL(x > 0 && number >> 31 == 1);
	for (bit = 0; bit < CHOOSE_BITS; bit++) {
		number = number * number >> 31;
		fraction = fraction << 1 | number >> 32;
		number >>= number >> 32;
	}
	return ((uint64_t)(zeros + 1) << CHOOSE_BITS) - fraction;
}

int64_t choose_draw(struct choose *choose, uint64_t mean)
{
	/* 0 counts as the smallest value, too */
	uint64_t log2 = choose_log2(choose_random(choose) | 1);
	uint64_t ln = log2 * CHOOSE_LN2 >> CHOOSE_BITS;	/* in units of 2^-32 */

	CLAIM_FULL(mean > 0 && mean <= CHOOSE_MEAN_MAX);
	return (int64_t)((ln >> 32) * mean + ((ln & UINT32_MAX) * mean >> 32) +
			 1);
}

void choose_begin(struct choose *choose, uint64_t seed, uint64_t mean)
{
	choose->random = choose_mix(seed);
	choose->until = choose_draw(choose, mean);
}
