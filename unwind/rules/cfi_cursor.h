/*
 * cfi_cursor.h: bounded reading of untrusted bytes.
 *
 * A cursor never leaves [at, end). A read beyond the end returns 0, moves the
 * cursor to its end and marks it failed for good: a parser may read a whole
 * record and check once. Reads are unaligned and in the machine's own byte
 * order, as are the tables of the running program. Any thread, also signal
 * handlers.
 *
 * __builtin_memcpy of a few bytes is a single load even with -fno-builtin,
 * which makes memcpy a call; that call cost a fifth of an FDE's interpretation.
 *
 * I1  at <= end, always.
 * I2  failed is never reset.
 */
#ifndef GNOMON_UNWIND_CFI_CURSOR_H
#define GNOMON_UNWIND_CFI_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unwind/base/assertion.h"

struct cfi_cursor {
	const uint8_t *at, *end;
	bool failed;
};

/* A cursor over [address, end). Failed at once if address > end. */
static inline struct cfi_cursor cfi_cursor_make(uintptr_t address,
						uintptr_t end)
{
	struct cfi_cursor c = {
		.at = (const uint8_t *)address,
		.end = (const uint8_t *)end,
	};

	if (address > end) {
		c.at = c.end;
		c.failed = true;
	}
	return c;
}

static inline size_t cfi_left(const struct cfi_cursor *c)
{
	DEBUG_ASSERT(c->at <= c->end);	/* I1 */
	return (size_t)(c->end - c->at);
}

static inline void cfi_fail(struct cfi_cursor *c)
{
	c->at = c->end;
	c->failed = true;
}

/* Skips the next size bytes and returns them; NULL if there are fewer. */
static inline const uint8_t *cfi_bytes(struct cfi_cursor *c, uint64_t size)
{
	const uint8_t *bytes = c->at;

	if (size > cfi_left(c)) {
		cfi_fail(c);
		return NULL;
	}
	c->at += size;
	return bytes;
}

static inline uint8_t cfi_u8(struct cfi_cursor *c)
{
	DEBUG_ASSERT(c->at <= c->end);
	if (c->at == c->end) {
		c->failed = true;
		return 0;
	}
	return *c->at++;
}

static inline uint16_t cfi_u16(struct cfi_cursor *c)
{
	const uint8_t *bytes = cfi_bytes(c, 2);
	uint16_t value = 0;

	if (bytes)
		__builtin_memcpy(&value, bytes, 2);
	return value;
}

static inline uint32_t cfi_u32(struct cfi_cursor *c)
{
	const uint8_t *bytes = cfi_bytes(c, 4);
	uint32_t value = 0;

	if (bytes)
		__builtin_memcpy(&value, bytes, 4);
	return value;
}

static inline uint64_t cfi_u64(struct cfi_cursor *c)
{
	const uint8_t *bytes = cfi_bytes(c, 8);
	uint64_t value = 0;

	if (bytes)
		__builtin_memcpy(&value, bytes, 8);
	return value;
}

/* LEB128 (DWARF 5, 7.6). Padding is legal, so only the input bounds the
 * length; bits beyond 64 are dropped. */
static inline uint64_t cfi_uleb(struct cfi_cursor *c)
{
	uint64_t value = 0;
	unsigned int shift = 0;
	uint8_t byte;

	do {
		byte = cfi_u8(c);
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		shift += shift < 64 ? 7 : 0;
	} while (byte & 0x80);
	return value;
}

static inline int64_t cfi_sleb(struct cfi_cursor *c)
{
	uint64_t value = 0;
	unsigned int shift = 0;
	uint8_t byte;

	do {
		byte = cfi_u8(c);
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		shift += shift < 64 ? 7 : 0;
	} while (byte & 0x80);
	if (shift < 64 && (byte & 0x40))
		value |= ~UINT64_C(0) << shift;
	return (int64_t)value;
}

#endif
