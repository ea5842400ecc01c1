/*
 * printable.c: see printable.h.
 */
#include "cli/base/text/printable.h"

#include <stdbool.h>
#include <stddef.h>

struct range {
	uint32_t first, last;
};

static const struct range not_printable[] = {
	{ 0, 0x1f }, { 0x7f, 0x9f },	/* control characters: C0, C1 */
	{ 0x61c, 0x61c },		/* Arabic letter mark */
	{ 0x180e, 0x180e },		/* Mongolian vowel separator */
	{ 0x200b, 0x200f },		/* zero width; direction marks */
	{ 0x2028, 0x202e },		/* line ends; embeddings, overrides */
	{ 0x2060, 0x206f },		/* zero width; isolates */
	{ 0xfeff, 0xfeff },		/* byte order mark */
	{ 0xfff9, 0xfffb },		/* interlinear annotations */
	{ 0xe0000, 0xe007f },		/* tags */
};

static const struct range joining[] = {
	{ 0x300, 0x36f },		/* combining marks */
	{ 0xfe00, 0xfe0f },		/* variation selectors */
	{ 0xe0100, 0xe01ef },
};

static const struct range wide[] = {
	{ 0x1100, 0x115f }, { 0x2e80, 0xa4cf }, { 0xac00, 0xd7a3 },
	{ 0xf900, 0xfaff }, { 0xfe30, 0xfe6f }, { 0xff00, 0xff60 },
	{ 0x1f300, 0x1faff }, { 0x20000, 0x3fffd },
};

static bool is_in(uint32_t code, const struct range *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (code >= list[i].first && code <= list[i].last)
			return true;
	return false;
}

#define IS_IN(code, list) is_in(code, list, sizeof(list) / sizeof((list)[0]))

int printable_columns(uint32_t code)
{
	if (code >= 0x20 && code < 0x7f)
		return 1;
	return IS_IN(code, not_printable) ? -1 : IS_IN(code, joining) ? 0 :
		IS_IN(code, wide) ? 2 : 1;
}
