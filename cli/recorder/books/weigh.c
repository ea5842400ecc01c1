/*
 * weigh.c: see weigh.h.
 *
 * With x = n / M the weight is w(x) = 1 / (1 - exp(-x)). Up to x = 1 its
 * series is good to 2^-25:
 *
 *	w(x) = 1/x + 1/2 + x/12 - x^3/720 + x^5/30240 - x^7/1209600 + …
 *
 * A larger x is halved until it is that small. c(x) = 2 w(x) - 1 is the
 * hyperbolic cotangent of x / 2, and so c(2x) = (c(x) + 1 / c(x)) / 2, which
 * makes errors smaller each time. From x = 32 on the weight is 1.
 *
 * All of it is done with what a block stands for beyond itself, w - 1, times
 * 2^31: that times n is at most M × 2^31, whatever n is.
 */
#include "cli/recorder/books/weigh.h"

#define WEIGH_ONE (UINT64_C(1) << 31)
#define WEIGH_HALVES 5		/* 2^5: from there on it is 1 */
#define WEIGH_SIZE_MAX (UINT64_C(1) << 54)

/* w(x) for M / n = 1 / x, x = `size` / `mean` at most 1; 2^31 is one. */
static uint64_t weigh_series(uint64_t inverse, uint64_t x)
{
	uint64_t square = x * x >> 31;
	uint64_t x3 = x * square >> 31, x5 = x3 * square >> 31;

	return inverse + WEIGH_ONE / 2 + x / 12 - x3 / 720 + x5 / 30240 -
	       (x5 * square >> 31) / 1209600;
}

/* w(n / M) - 1, times 2^31. size <= mean << WEIGH_HALVES. */
static uint64_t weigh_beyond(uint64_t size, uint64_t mean)
{
	uint64_t inverse = (mean << 31) / size;
	uint64_t weight, c;
	unsigned halves = 0, i;

	while (size > mean << halves)
		halves++;
	weight = weigh_series(inverse << halves,
			      ((size << (26 - halves)) / mean) << 5);
	if (!halves)
		return weight - WEIGH_ONE;
	c = 2 * weight - WEIGH_ONE;
	for (i = 0; i < halves; i++)
		c = (c + (WEIGH_ONE << 31) / c) / 2;
	return c > WEIGH_ONE ? (c - WEIGH_ONE) / 2 : 0;
}

struct weigh_amount weigh_sampled(uint64_t size, uint64_t mean)
{
	/* what asks for nothing is chosen as if it were a byte */
	uint64_t length = size + !size, beyond;

	size = base_min(size, WEIGH_SIZE_MAX);
	beyond = length < mean << WEIGH_HALVES ? weigh_beyond(length, mean) :
						 0;
	return (struct weigh_amount){
		(UINT64_C(1) << WEIGH_BLOCK_BITS) +
			((beyond + (1 << 14)) >> (31 - WEIGH_BLOCK_BITS)),
		(size << WEIGH_BYTE_BITS) +
			((beyond * size + (1 << 22)) >>
			 (31 - WEIGH_BYTE_BITS)),
	};
}

uint64_t weigh_lifetime(uint64_t ticks, uint64_t blocks, uint64_t mean)
{
	uint64_t whole = blocks >> WEIGH_BLOCK_BITS, sum;
	uint64_t part = blocks & ((1 << WEIGH_BLOCK_BITS) - 1);

	if (!mean)
		return ticks;
	part = (ticks >> WEIGH_BLOCK_BITS) * part +
	       ((ticks & ((1 << WEIGH_BLOCK_BITS) - 1)) * part >>
		WEIGH_BLOCK_BITS);
	if (__builtin_mul_overflow(ticks, whole, &sum))
		return UINT64_MAX;
	return sum + part;
}
