/*
 * cursor.c: the slow path of varints. Pure, any thread.
 */
#include "cli/trace/decode/cursor.h"

#include "unwind/base/assertion.h"

uint64_t cursor_varint_long(struct cursor *c)
{
	const uint8_t *p = c->next;
	uint64_t value = 0;

	for (unsigned i = 0; i < CURSOR_VARINT_MAX; i++) {
		if (p == c->end)
			break;
		value |= (uint64_t)(*p & 0x7f) << (7 * i);
		if (*p++ < 0x80) {
			/* The tenth byte may only be 0 or 1. */
			if (i == CURSOR_VARINT_MAX - 1 && p[-1] > 1)
				break;
			DEBUG_ASSERT(p <= c->end);
			c->next = p;
			return value;
		}
	}
	c->bad = true;
	c->next = c->end;
	return 0;
}

struct cursor_number cursor_varint_sure_long(const uint8_t *p)
{
	uint64_t word, last;

	memcpy(&word, p, sizeof(word));
	word = le64toh(word);
	last = ~word & UINT64_C(0x8080808080808080);
	if (last == 0)
		return (struct cursor_number){ 0, 0 };
	word &= last ^ (last - 1);
	word = (word & UINT64_C(0x007f007f007f007f)) |
		(word & UINT64_C(0x7f007f007f007f00)) >> 1;
	word = (word & UINT64_C(0x00003fff00003fff)) |
		(word & UINT64_C(0x3fff00003fff0000)) >> 2;
	word = (word & UINT64_C(0x000000000fffffff)) |
		(word & UINT64_C(0x0fffffff00000000)) >> 4;
	return (struct cursor_number){
		word, ((unsigned)__builtin_ctzll(last) >> 3) + 1
	};
}
