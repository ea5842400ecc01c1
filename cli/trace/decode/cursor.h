/*
 * cursor.h: bounded reads of bytes that may be hostile.
 *
 * A cursor never leaves its bytes. A read past the end yields 0, sets `bad` and
 * leaves the cursor at the end. So a parser reads a whole record and checks
 * `bad` once, after it.
 */
#ifndef GNOMON_CURSOR_H
#define GNOMON_CURSOR_H

#include <stdbool.h>
#include <endian.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "unwind/base/assertion.h"

#define CURSOR_VARINT_MAX 10	/* bytes of a LEB128 number of 64 bits */

struct cursor {
	const uint8_t *next;
	const uint8_t *end;
	bool bad;
};

static inline struct cursor cursor_over(const void *bytes, size_t size)
{
	static const uint8_t nothing[1];
	/* Adding 0 to NULL is undefined. */
	const uint8_t *begin = size > 0 ? bytes : nothing;
	struct cursor c = { begin, begin + size, false };

	return c;
}

static inline size_t cursor_left(const struct cursor *c)
{
	DEBUG_ASSERT(c->next <= c->end);
	return (size_t)(c->end - c->next);
}

/* `size` bytes, or NULL. */
static inline const uint8_t *cursor_bytes(struct cursor *c, uint64_t size)
{
	const uint8_t *bytes = c->next;

	if (size > cursor_left(c)) {
		c->bad = true;
		c->next = c->end;
		return NULL;
	}
	c->next += size;
	return bytes;
}

static inline uint64_t cursor_little(struct cursor *c, unsigned size)
{
	const uint8_t *bytes = cursor_bytes(c, size);
	uint64_t value = 0;

	DEBUG_ASSERT(size <= sizeof(value));
	if (bytes == NULL)
		return 0;
	for (unsigned i = 0; i < size; i++)
		value |= (uint64_t)bytes[i] << (8 * i);
	return value;
}

static inline uint8_t cursor_u8(struct cursor *c)
{
	return (uint8_t)cursor_little(c, 1);
}

static inline uint16_t cursor_u16(struct cursor *c)
{
	return (uint16_t)cursor_little(c, 2);
}

static inline uint32_t cursor_u32(struct cursor *c)
{
	return (uint32_t)cursor_little(c, 4);
}

static inline uint64_t cursor_u64(struct cursor *c)
{
	return cursor_little(c, 8);
}

/* Varints of more than one byte; values over 64 bits set `bad`. */
uint64_t cursor_varint_long(struct cursor *c);

static inline uint64_t cursor_varint(struct cursor *c)
{
	if (c->next < c->end && *c->next < 0x80)
		return *c->next++;
	return cursor_varint_long(c);
}

/* Returned by value: with its address taken it would be kept in memory. */
struct cursor_number {
	uint64_t value;
	uint64_t length;	/* bytes; 0: more than 8, use cursor_varint */
};

/* The slow path of cursor_varint_sure: varints of more than 4 bytes. */
struct cursor_number cursor_varint_sure_long(const uint8_t *p);

/*
 * The varint at `p`, where CURSOR_VARINT_MAX bytes must be readable. Up to 4
 * bytes no branch depends on its length: lengths are irregular, and a
 * mispredicted branch costs more than this code.
 */
static inline struct cursor_number cursor_varint_sure(const uint8_t *p)
{
	uint32_t word, last;

	memcpy(&word, p, sizeof(word));
	word = le32toh(word);
	last = ~word & 0x80808080u;
	if (__builtin_expect(last == 0, 0))
		return cursor_varint_sure_long(p);
	/* Keep the bytes up to the first without the top bit. Then join groups
	 * of 7 bits by pairs, and pairs of pairs. */
	word &= last ^ (last - 1);
	word = (word & 0x007f007f) | (word & 0x7f007f00) >> 1;
	word = (word & 0x3fff) | (word & 0x3fff0000) >> 2;
	return (struct cursor_number){
		word, ((unsigned)__builtin_ctz(last) >> 3) + 1
	};
}

static inline int64_t cursor_unzigzag(uint64_t value)
{
	return (int64_t)(value >> 1 ^ (0 - (value & 1)));
}

static inline int64_t cursor_zigzag(struct cursor *c)
{
	return cursor_unzigzag(cursor_varint(c));
}

#endif
