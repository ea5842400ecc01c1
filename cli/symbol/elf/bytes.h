/*
 * bytes.h: bounded reads of untrusted debug information.
 *
 * A cursor never leaves its bytes: a read past the end returns 0, moves the
 * cursor to its end and sets `bad`. So a loop that checks `bad` (or the end)
 * terminates, and no single read has to be checked.
 *
 * Bytes are in the byte order of their file. Pure; any thread.
 */
#ifndef GNOMON_SYMBOL_BYTES_H
#define GNOMON_SYMBOL_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "unwind/base/assertion.h"

struct span {
	const uint8_t *data;
	size_t size;
	bool big;		/* numbers begin with the most significant byte */
};

struct bytes {
	const uint8_t *at;
	const uint8_t *end;
	bool bad;
	bool big;		/* as the span's */
};

/* From an offset on; bad if the offset is too large. */
static inline struct bytes bytes_from(struct span span, uint64_t offset)
{
	struct bytes bytes = { NULL, NULL, true, span.big };

	if (span.data == NULL)
		return bytes;
	bytes.at = bytes.end = span.data + span.size;
	if (offset <= span.size) {
		bytes.at = span.data + offset;
		bytes.bad = false;
	}
	return bytes;
}

static inline size_t bytes_left(const struct bytes *bytes)
{
	DEBUG_ASSERT(bytes->at <= bytes->end);
	return (size_t)(bytes->end - bytes->at);
}

static inline void bytes_fail(struct bytes *bytes)
{
	bytes->at = bytes->end;
	bytes->bad = true;
}

static inline void bytes_skip(struct bytes *bytes, uint64_t size)
{
	if (size > bytes_left(bytes))
		bytes_fail(bytes);
	else
		bytes->at += size;
}

/* `size` must be 1 to 8, else `bad` is set. */
static inline uint64_t bytes_number(struct bytes *bytes, unsigned size)
{
	uint64_t value = 0;

	if (size > 8 || size > bytes_left(bytes)) {
		bytes_fail(bytes);
		return 0;
	}
	for (unsigned i = 0; i < size; i++)
		value |= (uint64_t)bytes->at[bytes->big ? size - 1 - i : i] <<
			(8 * i);
	bytes->at += size;
	return value;
}

#define BYTES_BIG_HOST (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)
#define BYTES_AS_THEY_ARE(value) (value)

#define BYTES_FIXED(type, name, swapped)				\
	static inline type name(struct bytes *bytes)			\
	{								\
		type value = 0;						\
									\
		if (sizeof(value) > bytes_left(bytes)) {		\
			bytes_fail(bytes);				\
			return 0;					\
		}							\
		memcpy(&value, bytes->at, sizeof(value));		\
		bytes->at += sizeof(value);				\
		return bytes->big == BYTES_BIG_HOST ? value :		\
			swapped(value);					\
	}

BYTES_FIXED(uint8_t, bytes_u8, BYTES_AS_THEY_ARE)
BYTES_FIXED(uint16_t, bytes_u16, __builtin_bswap16)
BYTES_FIXED(uint32_t, bytes_u32, __builtin_bswap32)
BYTES_FIXED(uint64_t, bytes_u64, __builtin_bswap64)

static inline uint64_t bytes_uleb(struct bytes *bytes)
{
	uint64_t value = 0;

	for (unsigned shift = 0; bytes->at < bytes->end; shift += 7) {
		uint8_t byte = *bytes->at++;

		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return value;
	}
	bytes_fail(bytes);
	return 0;
}

static inline int64_t bytes_sleb(struct bytes *bytes)
{
	uint64_t value = 0;

	for (unsigned shift = 0; bytes->at < bytes->end;) {
		uint8_t byte = *bytes->at++;

		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
		if (byte >= 0x80)
			continue;
		if (shift < 64 && byte & 0x40)
			value |= ~UINT64_C(0) << shift;
		return (int64_t)value;
	}
	bytes_fail(bytes);
	return 0;
}

/* A string that ends within the bytes; "" if none does. */
static inline const char *bytes_string(struct bytes *bytes)
{
	const uint8_t *text = bytes->at;
	const uint8_t *nul = bytes_left(bytes) ?
		memchr(text, 0, bytes_left(bytes)) : NULL;

	if (nul == NULL) {
		bytes_fail(bytes);
		return "";
	}
	bytes->at = nul + 1;
	return (const char *)text;
}

/* DWARF's initial length: 4 or 12 bytes. *offset_size becomes 4 or 8. */
static inline uint64_t bytes_length(struct bytes *bytes, uint8_t *offset_size)
{
	uint64_t length = bytes_u32(bytes);

	*offset_size = 4;
	if (length == 0xffffffff) {
		*offset_size = 8;
		length = bytes_u64(bytes);
	}
	return length;
}

#endif
