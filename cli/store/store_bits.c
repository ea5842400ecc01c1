/*
 * store_bits.c: see store_bits.h. Any thread.
 *
 * One loop handles all widths: the shift is the same for all lanes, so SIMD
 * units need only one operand, and branches on the width are taken once per
 * STORE_LANES numbers. A function for each width was not faster, and took 300
 * KiB of code.
 */
#include "cli/store/store_bits.h"

#include <string.h>

#include "unwind/base/assertion.h"

#define PER_LANE (STORE_BITS / STORE_LANES)

/* All lanes at once. The compiler splits it into the machine's vectors. */
typedef uint64_t lanes __attribute__((vector_size(16), aligned(8),
				may_alias));
#define VECTORS (STORE_LANES * sizeof(uint64_t) / sizeof(lanes))

_Static_assert(PER_LANE == 64, "a lane fills `width` words");

void store_bits_pack(const uint64_t *numbers, unsigned width, uint64_t *words)
{
	uint64_t mask = width == 64 ? UINT64_MAX : (UINT64_C(1) << width) - 1;

	ASSERT(width <= 64);
	memset(words, 0, store_bits_words(width) * sizeof(*words));
	for (unsigned i = 0; i < PER_LANE && width > 0; i++) {
		unsigned bit = i * width % 64;
		uint64_t *to = words + store_bits_words(i * width / 64);

		for (unsigned lane = 0; lane < STORE_LANES; lane++) {
			uint64_t number = numbers[i * STORE_LANES + lane] &
					  mask;

			to[lane] |= number << bit;
			if (bit + width > 64)
				to[lane + STORE_LANES] |= number >> (64 - bit);
		}
	}
}

void store_bits_unpack(const uint64_t *words, unsigned width, unsigned shift,
		       uint64_t base, uint64_t *numbers)
{
	uint64_t mask = width == 64 ? UINT64_MAX : (UINT64_C(1) << width) - 1;
	const lanes masks = { mask, mask }, bases = { base, base };

	DEBUG_ASSERT(width <= 64 && shift < 64);
	if (width == 0) {
		for (unsigned i = 0; i < STORE_BITS; i++)
			numbers[i] = base;
		return;
	}
	for (unsigned i = 0; i < PER_LANE; i++) {
		unsigned bit = i * width % 64;
		const lanes *from = (const lanes *)
			(words + store_bits_words(i * width / 64));
		lanes *to = (lanes *)(numbers + i * STORE_LANES);

		/* unrolled, this is 2.4 times as fast */
		if (bit + width > 64) {
#pragma GCC unroll 8
			for (unsigned v = 0; v < VECTORS; v++)
				to[v] = (((from[v] >> bit |
					   from[v + VECTORS] << (64 - bit)) &
					  masks) << shift) + bases;
		} else {
#pragma GCC unroll 8
			for (unsigned v = 0; v < VECTORS; v++)
				to[v] = ((from[v] >> bit & masks) << shift) +
					bases;
		}
	}
}
