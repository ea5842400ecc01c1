/*
 * perfmap.c: entries are sorted by start, each with the highest end so far. So
 * a backward search from an address knows when no earlier entry can cover it.
 *
 * Called by the main thread.
 */
#include "cli/symbol/jit/perfmap.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "cli/base/search.h"
#include "unwind/base/assertion.h"

/* Limit of overlapping entries that are checked: moved code leaves some. */
#define PERFMAP_BACK_MAX 100000

static bool take_number(const char **at, const char *end, uint64_t *value)
{
	const char *p = *at;

	*value = 0;
	if (end - p > 2 && p[0] == '0' && (p[1] | 32) == 'x')
		p += 2;
	for (*at = p; p < end; p++) {
		unsigned digit = (unsigned char)*p - '0';

		if (digit > 9) {
			digit = ((unsigned char)*p | 32u) - 'a';
			if (digit > 5)
				break;
			digit += 10;
		}
		if (*value >> 60)
			return false;
		*value = *value << 4 | digit;
	}
	if (p == *at || p == end || *p != ' ')
		return false;
	*at = p + 1;
	return true;
}

static bool take_line(struct perfmap *map, const char *at, const char *end)
{
	struct perfmap_entry entry = { .order = map->count,
				       .piece = map->pieces,
				       .since = map->since };
	uint64_t size;

	if (!take_number(&at, end, &entry.start) ||
	    !take_number(&at, end, &size) || at == end ||
	    size > UINT64_MAX - entry.start)
		return false;
	entry.end = entry.start + size;
	entry.name = intern_bytes(&map->names, at, (size_t)(end - at));
	DEBUG_ASSERT(at < end);
	GROW(map->list, map->count, map->capacity);
	map->list[map->count++] = entry;
	return true;
}

void perfmap_add(struct perfmap *map, const char *text, size_t size,
		 uint32_t node)
{
	const char *end = text + size;

	if (node > map->since)
		map->since = node;
	if (node > 0)
		map->pieces++;
	while (text < end) {
		const char *line_end = memchr(text, '\n', (size_t)(end - text));

		if (line_end == NULL)
			line_end = end;
		if (line_end > text && !take_line(map, text, line_end))
			map->bad++;
		text = line_end == end ? end : line_end + 1;
	}
	map->sorted = false;
}

static int by_start(const void *a, const void *b)
{
	const struct perfmap_entry *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

#ifdef GNOMON_DEBUG_ASSERTS
bool perfmap_is_valid(const struct perfmap *map)
{
	uint64_t reach = 0;

	if (map->count > map->capacity)
		return false;
	for (size_t i = 0; i < map->count; i++) {
		const struct perfmap_entry *entry = &map->list[i];

		if (reach < entry->end)
			reach = entry->end;
		if (entry->end < entry->start || entry->order >= map->count ||
		    entry->since > map->since || entry->piece > map->pieces)
			return false;
		if (map->sorted && (entry->reach != reach ||
				    (i > 0 && by_start(entry - 1, entry) >= 0)))
			return false;
	}
	return true;
}
#endif

static void sort(struct perfmap *map)
{
	uint64_t reach = 0;

	assert(!map->sorted);
	if (map->count > 0)
		qsort(map->list, map->count, sizeof(*map->list), by_start);
	for (size_t i = 0; i < map->count; i++) {
		if (map->list[i].end > reach)
			reach = map->list[i].end;
		map->list[i].reach = reach;
	}
	map->sorted = true;
	DEBUG_ASSERT(perfmap_is_valid(map));
}

/* Whether `a` is a better match than `b` for the time when node `id` was
 * made. */
static bool is_better(const struct perfmap_entry *a,
		      const struct perfmap_entry *b, uint32_t id)
{
	bool a_late = a->since > id, b_late = b->since > id;

	if (a_late != b_late)
		return b_late;
	if (a_late && a->piece != b->piece)
		return a->piece < b->piece;
	return a->order > b->order;
}

static bool starts_above(const void *list, size_t i, uint64_t address)
{
	return ((const struct perfmap_entry *)list)[i].start > address;
}

const char *perfmap_find(struct perfmap *map, uint64_t address, uint32_t id)
{
	const struct perfmap_entry *best = NULL;
	size_t low, back;

	if (!map->sorted)
		sort(map);
	low = search_first(map->list, map->count, starts_above, address);
	for (back = 0; low > 0 && back < PERFMAP_BACK_MAX; back++) {
		const struct perfmap_entry *entry = &map->list[--low];

		if (entry->reach <= address)
			break;
		if (entry->end > address &&
		    (best == NULL || is_better(entry, best, id)))
			best = entry;
	}
	return best ? best->name : NULL;
}

void perfmap_free(struct perfmap *map)
{
	intern_free(&map->names);
	free(map->list);
	memset(map, 0, sizeof(*map));
}
