/*
 * cursor.c: the slow half of varints. Pure, any thread.
 */
#include "cli/trace/cursor.h"

uint64_t cursor_varint_long(struct cursor *c)
{
	const uint8_t *p = c->next;
	uint64_t value = 0;

	for (unsigned i = 0; i < CURSOR_VARINT_MAX; i++) {
		if (p == c->end)
			break;
		value |= (uint64_t)(*p & 0x7f) << (7 * i);
		if (*p++ < 0x80) {
			/* The tenth byte has room for one bit only. */
			if (i == CURSOR_VARINT_MAX - 1 && p[-1] > 1)
				break;
			c->next = p;
			return value;
		}
	}
	c->bad = true;
	c->next = c->end;
	return 0;
}
