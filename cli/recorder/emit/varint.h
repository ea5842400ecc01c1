/* varint.h: encodes the LEB128 numbers of a trace. */
#ifndef GNOMON_VARINT_H
#define GNOMON_VARINT_H

#include <stdint.h>

#include "preload/base/base.h"

#define VARINT_MAX 10	/* bytes of the longest */

/* Writes a number. Returns one past the last byte. */
static inline uint8_t *varint_put(uint8_t *to, uint64_t value)
{
	while (value >= 0x80) {
		*to++ = value | 0x80;
		value >>= 7;
	}
	*to = value;
	return to + 1;
}

#define VARINT_SPREAD_BITS 28

/*
 * The same, without a branch on the length: lengths of a trace's numbers are
 * hard to predict, and a misprediction costs more than this function. Writes up
 * to 4 bytes past the returned end.
 */
static inline uint8_t *varint_put_spread(uint8_t *to, uint64_t value)
{
	/* all bytes but the last are marked; indexed by their number less
	 * one */
	static const uint32_t marks[] = { 0, 0x80, 0x8080, 0x808080 };
	uint32_t v = value, more;

	if (unlikely(value >> VARINT_SPREAD_BITS))
		return varint_put(to, value);
	/* Comparisons, not a count of leading zeros: that is slower if the
	 * processor, or the processor compiled for, has no fast instruction for
	 * it. */
	more = (v > 0x7f) + (v > 0x3fff) + (v > 0x1fffff);
	/* seven bits to a byte: separate halves, then quarters */
	v = (v & 0x3fff) | (v & 0xfffc000) << 2;
	v += v & 0x3f803f80;
	v |= marks[more];
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	v = __builtin_bswap32(v);
#endif
	__builtin_memcpy(to, &v, sizeof(v));
	return to + more + 1;
}

/* For numbers that are mostly one byte long. */
static inline uint8_t *varint_put_byte(uint8_t *to, uint64_t value)
{
	if (unlikely(value > 0x7f))
		return varint_put_spread(to, value);
	*to = value;
	return to + 1;
}

/* For numbers that have one or two bytes about equally often: no branch on the
 * length. Writes up to 4 bytes past the returned end. */
static inline uint8_t *varint_put_two(uint8_t *to, uint64_t value)
{
	uint8_t two = value > 0x7f;

	if (unlikely(value > 0x3fff))
		return varint_put_spread(to, value);
	to[0] = value | two << 7;
	to[1] = value >> 7;
	return to + 1 + two;
}

/* Zigzag: small numbers of either sign become small unsigned numbers. */
static inline uint64_t varint_zigzag(uint64_t value)
{
	return value << 1 ^ (uint64_t)((int64_t)value >> 63);
}

#endif
