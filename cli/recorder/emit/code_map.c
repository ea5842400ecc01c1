/*
 * code_map.c: a hash table of pages, each a bitmap of every 16th address. A
 * range sets the bits of the addresses inside it, so adjacent ranges share
 * none.
 *
 * I1: at most half of the table is used, so a search ends at a free entry.
 */
#include "cli/recorder/emit/code_map.h"

#include "cli/recorder/base/zeroed.h"
#include "unwind/base/assertion.h"

#define CODE_MAP_RANGE_MAX (UINT64_C(64) << 20)	/* longer than any function */

static uint64_t *code_map_page(struct code_map *map, uint64_t page)
{
	uint64_t key = page + 1;
	unsigned i = (unsigned)(key * UINT64_C(0x9e3779b97f4a7c15) >> 52);

	DEBUG_ASSERT(map->used <= CODE_MAP_PAGES / 2); /* I1 */
	for (; map->key[i % CODE_MAP_PAGES]; i++)
		if (map->key[i % CODE_MAP_PAGES] == key)
			return map->bits[i % CODE_MAP_PAGES];
	i %= CODE_MAP_PAGES;
	if (map->used >= CODE_MAP_PAGES / 2)	/* I1 */
		return NULL;
	map->bits[i] = zeroed_alloc(CODE_MAP_WORDS * sizeof(uint64_t));
	if (!map->bits[i])
		return NULL;
	map->key[i] = key;
	map->used++;
	return map->bits[i];
}

bool code_map_enter(struct code_map *map, uint64_t start, uint64_t size)
{
	uint64_t at = (start + CODE_MAP_POINT - 1) & -(uint64_t)CODE_MAP_POINT;
	uint64_t *bits = NULL, page = UINT64_MAX;
	bool met = false;

	if (size > CODE_MAP_RANGE_MAX)
		size = CODE_MAP_RANGE_MAX;
	for (; at >= start && at - start < size; at += CODE_MAP_POINT) {
		uint64_t point = at % CODE_MAP_PAGE / CODE_MAP_POINT;

		if (at / CODE_MAP_PAGE != page) {
			page = at / CODE_MAP_PAGE;
			bits = code_map_page(map, page);
			if (!bits) {
				map->full = true;
				return true;
			}
		}
		DEBUG_ASSERT(point / 64 < CODE_MAP_WORDS);
		met |= bits[point / 64] >> (point % 64) & 1;
		bits[point / 64] |= UINT64_C(1) << (point % 64);
	}
	return met;
}
