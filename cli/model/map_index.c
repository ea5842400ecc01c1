/*
 * map_index.c: see map_index.h. The address space is cut where mappings begin
 * and end. Each piece has a list of the mappings that were ever there, by the
 * time when they were made:
 *
 *	borders   b0      b1      b2      b3
 *	          |  [0]  |  [1]  |  [2]  |
 *	first     0       1       3       4	where a piece's list begins
 *	times     A       A  B    B
 *
 *  I1  The list of a piece is in the order of time, and has only one mapping at
 *      any time: a later one replaced an earlier one.
 *
 * Called by the main thread.
 */
#include "cli/model/map_index.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "cli/base/intern.h"
#include "cli/base/search.h"
#include "cli/base/sort.h"
#include "cli/base/text/pattern.h"
#include "cli/model/filters.h"
#include "cli/model/maps/maps.h"
#include "cli/model/model_state.h"
#include "unwind/base/assertion.h"

/* Nested mappings, which only a forged trace has, would make the lists grow
 * with the square of their number. */
#define TIMES_MAX (UINT64_C(1) << 23)

struct area {
	uint64_t start, end;
	uint64_t from, to;	/* stamps */
	uint32_t path;
	uint32_t mapping;	/* index in maps.list */
	bool wanted;
};

struct map_time {
	uint64_t from, to;
	uint32_t path;
	uint32_t mapping;
	bool wanted;
};

struct map_index {
	uint64_t *borders;
	size_t border_count;
	size_t *first;		/* number of pieces + 1 */
	struct map_time *times;
	struct intern names;
	struct table path_of;	/* interned name -> number */
	const char **paths;
	size_t path_count, path_capacity;
};

/* ---- paths of mappings ---- */

static uint32_t path_of(struct map_index *maps, const char *path)
{
	const char *name = intern_string(&maps->names, path);
	uint32_t number = table_number(&maps->path_of, (uintptr_t)name,
				       maps->path_count);

	if (number == maps->path_count) {
		GROW(maps->paths, maps->path_count, maps->path_capacity);
		maps->paths[maps->path_count++] = name;
	}
	return number;
}

static bool matches(const struct mapping *mapping,
		    const struct filter_word *word)
{
	if (word->pattern != NULL)
		return pattern_matches(word->pattern, mapping->path);
	return word->number >= mapping->start &&
	       word->number - mapping->start < mapping->size;
}

static bool is_wanted(const struct filter *filter,
		      const struct mapping *mapping)
{
	const struct filter_word *word;
	bool wanted = false;

	for (size_t i = 0; (word = filter_word(filter, FILTER_MAP, i)); i++) {
		if (!matches(mapping, word))
			continue;
		filter_matched(filter, word);
		wanted = true;
	}
	return wanted;
}

static int by_time(const void *a, const void *b)
{
	const struct area *x = a, *y = b;

	return sort_up(x->from, y->from);
}

static struct area *areas_of(struct map_index *made,
			     const struct filter *filter,
			     const struct maps *maps, size_t *count)
{
	struct area *areas = grow_zeroed(maps->count + 1, sizeof(*areas));

	*count = 0;
	for (size_t i = 0; i < maps->count; i++) {
		const struct mapping *mapping = &maps->list[i];

		if (mapping->size == 0 ||
		    mapping->start > UINT64_MAX - mapping->size)
			continue;
		areas[(*count)++] = (struct area){
			.start = mapping->start,
			.end = mapping->start + mapping->size,
			.from = mapping->mapped,
			.to = mapping->unmapped ? mapping->unmapped :
				UINT64_MAX,
			.path = path_of(made, mapping->path),
			.mapping = (uint32_t)i,
			.wanted = is_wanted(filter, mapping),
		};
	}
	SORT(areas, *count, by_time);
	return areas;
}

/* ---- pieces ---- */

static int by_address(const void *a, const void *b)
{
	return sort_up(*(const uint64_t *)a, *(const uint64_t *)b);
}

static void set_borders(struct map_index *maps, const struct area *areas,
			size_t count)
{
	size_t kept = 0;

	maps->borders = grow_zeroed(2 * count + 1, sizeof(*maps->borders));
	for (size_t i = 0; i < count; i++) {
		maps->borders[2 * i] = areas[i].start;
		maps->borders[2 * i + 1] = areas[i].end;
	}
	SORT(maps->borders, 2 * count, by_address);
	for (size_t i = 0; i < 2 * count; i++)
		if (kept == 0 || maps->borders[i] != maps->borders[kept - 1])
			maps->borders[kept++] = maps->borders[i];
	maps->border_count = kept;
	DEBUG_ASSERT(kept <= 2 * count);
}

static bool lies_above(const void *list, size_t i, uint64_t address)
{
	return ((const uint64_t *)list)[i] > address;
}

/* The number of borders at or below this address. */
static size_t borders_up_to(const struct map_index *maps, uint64_t address)
{
	return search_first(maps->borders, maps->border_count, lies_above,
			    address);
}

static bool set_times(struct map_index *maps, const struct area *areas,
		      size_t count)
{
	size_t *next;
	uint64_t sum = 0;

	maps->first = grow_zeroed(maps->border_count + 1,
				  sizeof(*maps->first));
	for (size_t i = 0; i < count; i++) {
		size_t begin = borders_up_to(maps, areas[i].start) - 1;
		size_t end = borders_up_to(maps, areas[i].end) - 1;

		DEBUG_ASSERT(begin < end && end < maps->border_count);
		sum += end - begin;
		if (sum > TIMES_MAX)
			return false;
		for (size_t k = begin; k < end; k++)
			maps->first[k + 1]++;
	}
	for (size_t k = 0; k < maps->border_count; k++)
		maps->first[k + 1] += maps->first[k];
	assert(maps->first[maps->border_count] == sum);
	maps->times = grow_zeroed(sum + 1, sizeof(*maps->times));
	next = grow_zeroed(maps->border_count + 1, sizeof(*next));
	memcpy(next, maps->first, maps->border_count * sizeof(*next));
	for (size_t i = 0; i < count; i++) {
		size_t begin = borders_up_to(maps, areas[i].start) - 1;
		size_t end = borders_up_to(maps, areas[i].end) - 1;

		for (size_t k = begin; k < end; k++)
			maps->times[next[k]++] = (struct map_time){
				areas[i].from, areas[i].to, areas[i].path,
				areas[i].mapping, areas[i].wanted,
			};
	}
	free(next);
	return true;
}

/* ---- the index ---- */

struct map_index *map_index_new(const struct filter *filter,
				const struct model *outline,
				const char *option)
{
	struct notes *notes = outline->options.notes;
	struct map_index *maps;
	struct area *areas;
	size_t count;
	bool good;

	if (outline->maps.count == 0) {
		notes_error(notes, "%s: has no mappings, which %s needs: "
			    "record without --maps off",
			    outline->trace, option);
		return NULL;
	}
	if (outline->maps.forgotten > 0)
		notes_hint(notes, "%s: only the last %d unmapped mappings were "
			   "kept: %s does not see earlier ones",
			   outline->trace, MAPS_KEPT, option);
	maps = grow_zeroed(1, sizeof(*maps));
	areas = areas_of(maps, filter, &outline->maps, &count);
	set_borders(maps, areas, count);
	good = set_times(maps, areas, count);
	free(areas);
	if (!good) {
		notes_error(notes, "%s: too many mappings at the same addresses "
			    "for %s", outline->trace, option);
		map_index_free(maps);
		return NULL;
	}
	return maps;
}

void map_index_free(struct map_index *maps)
{
	if (maps == NULL)
		return;
	free(maps->borders);
	free(maps->first);
	free(maps->times);
	free(maps->paths);
	table_free(&maps->path_of);
	intern_free(&maps->names);
	free(maps);
}

/* For a binary search; NULL: no mapping is known. */
static bool was_made_later(const void *list, size_t i, uint64_t stamp)
{
	return ((const struct map_time *)list)[i].from > stamp;
}

static const struct map_time *find(const struct map_index *maps,
				   uint64_t address, uint64_t stamp)
{
	size_t piece = borders_up_to(maps, address), later, count;
	const struct map_time *times;

	if (piece == 0 || piece == maps->border_count)
		return NULL;
	DEBUG_ASSERT(maps->borders[piece - 1] <= address &&
		     address < maps->borders[piece]);
	times = maps->times + maps->first[piece - 1];
	count = maps->first[piece] - maps->first[piece - 1];
	later = search_first(times, count, was_made_later, stamp);
	if (later > 0 && times[later - 1].to > stamp)
		return &times[later - 1];
	return later < count ? &times[later] : NULL;
}

bool map_index_wants(const struct map_index *maps, uint64_t address,
		     uint64_t stamp)
{
	const struct map_time *time = find(maps, address, stamp);

	return time != NULL && time->wanted;
}

uint32_t map_index_path(const struct map_index *maps, uint64_t address,
			uint64_t stamp)
{
	const struct map_time *time = find(maps, address, stamp);

	return time != NULL ? time->path : MAP_INDEX_NONE;
}

uint32_t map_index_at(const struct map_index *maps, uint64_t address,
		      uint64_t stamp, uint64_t *until)
{
	const struct map_time *time = find(maps, address, stamp);
	size_t next = borders_up_to(maps, address);

	*until = next < maps->border_count ? maps->borders[next] : UINT64_MAX;
	return time != NULL ? time->mapping : MAP_INDEX_NONE;
}

size_t map_index_paths(const struct map_index *maps)
{
	return maps->path_count;
}

const char *map_index_name(const struct map_index *maps, uint32_t path)
{
	return path < maps->path_count ? maps->paths[path] : "";
}
