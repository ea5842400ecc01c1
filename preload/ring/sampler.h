/*
 * sampler.h: the sampler (--sample): a Poisson sample of the allocated bytes.
 *
 * The bytes that a thread allocates form a line, on which points are drawn with
 * exponential distances of mean M. A block is in the sample if a point lies on
 * its bytes: for n bytes with probability 1 - exp(-n / M), the inverse of the
 * weight that readers give it. A block of 0 bytes counts as one byte.
 *
 * No floating point: the program may have enabled a trap for inexact results,
 * or check the flag afterwards. No tables, no system calls; the caller has the
 * state.
 */
#ifndef GNOMON_SAMPLER_H
#define GNOMON_SAMPLER_H

#include <stdbool.h>
#include <stdint.h>

/* The largest mean distance that fits. */
#define SAMPLER_MEAN_MAX UINT64_C(0xffffffff)

/* A thread's position on its line. */
struct sampler {
	int64_t until;		/* bytes to the next point, including its
				 * byte */
	uint64_t random;	/* state of the generator */
};

/* Starts a line; `seed` is any number, preferably different for each line. */
void sampler_begin(struct sampler *sampler, uint64_t seed, uint64_t mean);

/* Draws the distance to the next point. 1 … 45 × mean. */
int64_t sampler_draw(struct sampler *sampler, uint64_t mean);

/*
 * A hash of `x`: depends on all bits, and differs much for neighbours.
 */
uint64_t sampler_mix(uint64_t x);

/* Bytes of the line that a block takes. */
static inline int64_t sampler_length(uint64_t size)
{
	return (int64_t)(size + !size);
}

/* Whether a new block of `size` bytes is in the sample. */
static inline bool sampler_take(struct sampler *sampler, uint64_t size,
				uint64_t mean)
{
	int64_t left = sampler->until - sampler_length(size);
	bool taken = left <= 0;

	sampler->until = taken ? sampler_draw(sampler, mean) : left;
	return taken;
}

#endif
