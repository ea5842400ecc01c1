/*
 * sampler.c: exponential distances in integer arithmetic. See sampler.h.
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
#include "preload/ring/sampler.h"

#include "unwind/base/assertion.h"

#define SAMPLER_STEP UINT64_C(0x9e3779b97f4a7c15)
#define SAMPLER_BITS 26		/* of the logarithm's fraction */
#define SAMPLER_LN2 UINT64_C(0xb17217f8)	/* ln 2, in units of 2^-32 */

uint64_t sampler_mix(uint64_t x)
{
	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

static uint64_t sampler_random(struct sampler *sampler)
{
	sampler->random += SAMPLER_STEP;
	return sampler_mix(sampler->random);
}

/* -log2(x / 2^64) for x > 0, with SAMPLER_BITS of fraction. */
static uint64_t sampler_log2(uint64_t x)
{
	unsigned zeros = (unsigned)__builtin_clzll(x), bit;
	uint64_t number = x << zeros >> 32;	/* 1 … 2, in units of 2^-31 */
	uint64_t fraction = 0;

	DEBUG_ASSERT(x > 0 && number >> 31 == 1);
	for (bit = 0; bit < SAMPLER_BITS; bit++) {
		number = number * number >> 31;
		fraction = fraction << 1 | number >> 32;
		number >>= number >> 32;
	}
	return ((uint64_t)(zeros + 1) << SAMPLER_BITS) - fraction;
}

int64_t sampler_draw(struct sampler *sampler, uint64_t mean)
{
	/* 0 counts as the smallest value, too */
	uint64_t log2 = sampler_log2(sampler_random(sampler) | 1);
	uint64_t ln =
		log2 * SAMPLER_LN2 >> SAMPLER_BITS; /* in units of 2^-32 */

	DEBUG_ASSERT(mean > 0 && mean <= SAMPLER_MEAN_MAX);
	return (int64_t)((ln >> 32) * mean + ((ln & UINT32_MAX) * mean >> 32) +
			 1);
}

void sampler_begin(struct sampler *sampler, uint64_t seed, uint64_t mean)
{
	sampler->random = sampler_mix(seed);
	sampler->until = sampler_draw(sampler, mean);
}
