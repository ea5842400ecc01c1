/* varint.h: LEB128 numbers, as the trace has them. */
#ifndef GNOMON_VARINT_H
#define GNOMON_VARINT_H

#include <stdint.h>

#include "preload/base.h"

#define VARINT_MAX 10	/* bytes of the longest */

/* Returns one past the last byte. */
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
 * The same, without a branch that depends on the length: lengths of a trace's
 * numbers are hard to predict, and a wrong guess costs more than all of this.
 * Writes up to 4 bytes past the end of what it returns.
 */
static inline uint8_t *varint_put_spread(uint8_t *to, uint64_t value)
{
	uint32_t v = value, top;

	if (unlikely(value >> VARINT_SPREAD_BITS))
		return varint_put(to, value);
	/* seven bits to a byte: first halves, then quarters apart */
	v = (v & 0x3fff) | (v & 0xfffc000) << 2;
	v = (v & 0x7f007f) | (v & 0x3f803f80) << 1;
	top = (31 - __builtin_clz(v | 1)) & 24;	/* first bit of the last byte */
	v |= 0x80808080u & ((1u << top) - 1);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	v = __builtin_bswap32(v);
#endif
	__builtin_memcpy(to, &v, sizeof(v));
	return to + top / 8 + 1;
}

/* Small numbers of either sign become small numbers. */
static inline uint64_t varint_zigzag(uint64_t value)
{
	return value << 1 ^ (uint64_t)((int64_t)value >> 63);
}

#endif
