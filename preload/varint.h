/* varint.h: LEB128 numbers, as the trace has them. */
#ifndef GNOMON_VARINT_H
#define GNOMON_VARINT_H

#include <stdint.h>

#include "preload/base.h"

#define VARINT_MAX 10	/* bytes of the longest */

/* Returns one past the last byte. The first cases are written out: nearly
 * all numbers of a trace have one or two bytes. */
static inline uint8_t *varint_put(uint8_t *to, uint64_t value)
{
	if (likely(value < 0x80)) {
		*to = value;
		return to + 1;
	}
	if (likely(value < 0x4000)) {
		to[0] = value | 0x80;
		to[1] = value >> 7;
		return to + 2;
	}
	while (value >= 0x80) {
		*to++ = value | 0x80;
		value >>= 7;
	}
	*to = value;
	return to + 1;
}

/* Small numbers of either sign become small numbers. */
static inline uint64_t varint_zigzag(uint64_t value)
{
	return value << 1 ^ (uint64_t)((int64_t)value >> 63);
}

#endif
