/* map_records.c: see the header. Called by the reader's thread. */
#include "cli/trace/decode/map_records.h"

#include "unwind/base/assertion.h"

#define ADDRESS_END (UINT64_C(1) << 63)	/* no program maps more */

bool map_records_head(struct cursor *c, struct trace_maps *head)
{
	head->flags = (uint32_t)cursor_varint(c);
	head->since = cursor_varint(c);
	head->begun = cursor_varint(c);
	head->ended = cursor_varint(c);
	head->top = cursor_varint(c);
	if (head->begun > head->ended || head->since > head->begun)
		c->bad = true;
	return !c->bad;
}

static void read_new(struct cursor *c, struct trace_map *map)
{
	uint64_t is = cursor_varint(c);

	map->is = (uint32_t)(is & ~(uint64_t)GT_MAPS_AGAIN);
	map->offset = cursor_varint(c);
	map->device = cursor_varint(c);
	map->inode = cursor_varint(c);
	if (is & GT_MAPS_AGAIN)
		return;
	map->path_size = cursor_varint(c);
	map->path = (const char *)cursor_bytes(c, map->path_size);
	if (map->path_size > GT_PATH_MAX)
		c->bad = true;
}

bool map_records_next(struct cursor *c, struct trace_map *map)
{
	uint64_t size;

	if (cursor_left(c) == 0)
		return false;
	map->what = (uint32_t)cursor_varint(c);
	map->start = map->end + (uint64_t)cursor_zigzag(c);
	size = cursor_varint(c);
	map->end = map->start + size;
	if (size == 0 || map->end < map->start || map->end > ADDRESS_END)
		c->bad = true;
	if (map->what == GT_MAPS_NEW)
		read_new(c, map);
	else if (map->what != GT_MAPS_GONE)
		c->bad = true;
	if (c->bad)
		map->path_size = 0;
	DEBUG_ASSERT(c->bad ||
		     (map->start < map->end && map->end <= ADDRESS_END));
	return !c->bad;
}
