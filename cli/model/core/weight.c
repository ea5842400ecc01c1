/* weight.c: see weight.h. */
#include "cli/model/core/weight.h"

#include <math.h>

#include "unwind/base/assertion.h"

#define BYTES_MAX 0x1p62

struct weight_amount weight_sampled(uint64_t size, uint64_t mean)
{
	/* requests of 0 bytes are sampled as if they were 1 byte */
	double length = (double)(size > 0 ? size : 1);
	double weight = -1 / expm1(-length / (double)mean);
	double bytes = weight * (double)size * (1 << WEIGHT_BYTE_BITS) + 0.5;

	DEBUG_ASSERT(mean != 0 && weight >= 1);
	return (struct weight_amount){
		(uint64_t)(weight * (1 << WEIGHT_BLOCK_BITS) + 0.5),
		(uint64_t)(bytes < BYTES_MAX ? bytes : BYTES_MAX),
	};
}

uint64_t weight_lifetime(uint64_t ticks, uint64_t blocks, uint64_t mean)
{
	uint64_t whole = blocks >> WEIGHT_BLOCK_BITS, sum;
	uint64_t part = blocks & ((1 << WEIGHT_BLOCK_BITS) - 1);

	if (mean == 0)
		return ticks;
	part = (ticks >> WEIGHT_BLOCK_BITS) * part +
	       ((ticks & ((1 << WEIGHT_BLOCK_BITS) - 1)) * part >>
		WEIGHT_BLOCK_BITS);
	if (__builtin_mul_overflow(ticks, whole, &sum))
		return UINT64_MAX;
	return sum + part;
}
