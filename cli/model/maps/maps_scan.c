/*
 * maps_scan.c: applies looks at the kernel's list of mappings.
 *
 * Chunks of one look are joined. The look then waits until all events up to its
 * end have been read. A look has only differences; applied to the list of the
 * previous look they give the kernel's list. That is compared with the spans,
 * address by address:
 *
 *	kernel  spans
 *	  x       -     mapped without a call: found
 *	  -       x     unmapped without a call
 *	  x       x     the same, unless it is another file
 *
 * Some ranges are not compared: ranges that events changed since the look
 * began, since the order is not known; and ranges that a munmap changed since
 * the previous look, if the kernel's entry is unchanged (munmap is recorded
 * before the call, so the look may have come before the call). The next look
 * shows these.
 *
 * Called by the reader's thread.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "cli/base/search.h"
#include "cli/base/sort.h"
#include "cli/model/maps/maps.h"
#include "unwind/base/assertion.h"

/* ---- from chunks to a list ---- */

static void add_record(struct maps *maps, struct map_scan *look,
		       const struct trace_map *record, const char **raw,
		       const char **path)
{
	struct trace_map *map;

	GROW(look->list, look->count, look->capacity);
	map = &look->list[look->count++];
	*map = *record;
	if (record->what != GT_MAPS_NEW)
		return;
	/* GT_MAPS_AGAIN: the path points to the same bytes of the payload */
	if (record->path != *raw || *path == NULL) {
		*raw = record->path;
		*path = record->path_size == 0 ? "" :
			intern_bytes(&maps->paths, record->path,
				     record->path_size);
	}
	map->path = *path;
}

static void wait_for_events(struct maps *maps)
{
	struct map_scan *look;

	GROW(maps->waiting, maps->waiting_count, maps->waiting_capacity);
	look = &maps->waiting[maps->waiting_count++];
	*look = maps->building;
	memset(&maps->building, 0, sizeof(maps->building));
	maps->due = maps->waiting[0].head.ended + maps->window;
}

void maps_take(struct maps *maps, const struct trace_maps *head,
	       struct cursor *records)
{
	struct map_scan *look = &maps->building;
	struct trace_map record = { 0 };
	const char *raw = NULL, *path = NULL;

	if (look->head.begun != head->begun)
		look->count = 0;	/* the end of another look was lost */
	look->head = *head;
	while (map_records_next(records, &record))
		add_record(maps, look, &record, &raw, &path);
	if (!(head->flags & GT_MAPS_MORE))
		wait_for_events(maps);
}

/* The list of the previous look and the differences are merged. An entry that
 * overlaps the merged list is dropped: the trace is damaged. */
struct merging {
	struct trace_map *list;
	size_t count;
};

static void merge_in(struct merging *merging, const struct trace_map *map)
{
	const struct trace_map *last = merging->count == 0 ? NULL :
		&merging->list[merging->count - 1];

	if (last == NULL || last->end <= map->start)
		merging->list[merging->count++] = *map;
}

/* In the merged list, `what` has only what is new in this look. */
static const struct trace_map *as_before(struct trace_map *map)
{
	map->what = 0;
	return map;
}

static void apply_differences(struct maps *maps, const struct map_scan *look)
{
	bool first = look->head.flags & GT_MAPS_FIRST;
	size_t old_count = first ? 0 : maps->kernel_count, old = 0;
	uint64_t top = look->head.top ? look->head.top : UINT64_MAX;
	struct merging merging = {
		grow_alloc((old_count + look->count) *
			   sizeof(*merging.list)), 0
	};

	for (size_t i = 0; i < look->count; i++) {
		const struct trace_map *map = &look->list[i];

		while (old < old_count && maps->kernel[old].start < map->start)
			merge_in(&merging, as_before(&maps->kernel[old++]));
		if (map->what == GT_MAPS_NEW)
			merge_in(&merging, map);
		else if (old < old_count &&
			 maps->kernel[old].start == map->start)
			old++;
	}
	while (old < old_count && maps->kernel[old].start < top)
		merge_in(&merging, as_before(&maps->kernel[old++]));
	DEBUG_ASSERT(merging.count <= old_count + look->count);
	free(maps->kernel);
	maps->kernel = merging.list;
	maps->kernel_count = merging.count;
}

/* ---- ranges that events have changed ---- */

struct ranges {
	struct map_touch *list;		/* by address, without overlaps */
	size_t count;
};

static int by_start(const void *a, const void *b)
{
	const struct map_touch *x = a, *y = b;

	return sort_up(x->start, y->start);
}

/* Ranges changed since `since`; by munmap, since `unmaps_since`. */
static void touched_ranges(const struct maps *maps, uint64_t since,
			   uint64_t unmaps_since, struct ranges *ranges)
{
	size_t kept = 0;

	ranges->list = grow_alloc(maps->touch_count * sizeof(*ranges->list));
	ranges->count = 0;
	for (size_t i = 0; i < maps->touch_count; i++) {
		const struct map_touch *touch = &maps->touches[i];

		if (touch->stamp + maps->window >=
		    (touch->unmapped ? unmaps_since : since))
			ranges->list[ranges->count++] = *touch;
	}
	SORT(ranges->list, ranges->count, by_start);
	for (size_t i = 0; i < ranges->count; i++) {
		struct map_touch *last = kept ? &ranges->list[kept - 1] : NULL;

		if (last != NULL && ranges->list[i].start <= last->end) {
			if (ranges->list[i].end > last->end)
				last->end = ranges->list[i].end;
			continue;
		}
		ranges->list[kept++] = ranges->list[i];
	}
	ranges->count = kept;
	DEBUG_ASSERT(kept <= maps->touch_count);
}

static bool ends_behind(const void *list, size_t i, uint64_t address)
{
	return ((const struct map_touch *)list)[i].end > address;
}

/* The first part of [*start, end) that is in none of the ranges; *start moves
 * to it. Returns its end; *start == end: there is none. */
static uint64_t clear_part(const struct ranges *ranges, uint64_t *start,
			   uint64_t end)
{
	size_t i = search_first(ranges->list, ranges->count, ends_behind,
				*start);

	for (; i < ranges->count && ranges->list[i].start < end; i++) {
		if (ranges->list[i].start > *start)
			return ranges->list[i].start;
		*start = ranges->list[i].end < end ? ranges->list[i].end : end;
	}
	return end;
}

/* ---- comparing ---- */

struct comparing {
	struct maps *maps;
	const struct trace_maps *head;
	struct ranges unclear;	/* changed during the look */
	struct ranges leaving;	/* these, and unmapped before the look */
	uint32_t last;		/* mapping found last, or MAPS_NONE */
	uint64_t last_end;
};

static bool is_file(const struct trace_map *map)
{
	return map->inode != 0;
}

static uint32_t span_flags(const struct trace_map *map)
{
	return (map->is & ~(uint32_t)GT_MAPS_OWN) | MAPS_SPAN_LOOKED |
		(is_file(map) ? MAPS_SPAN_FILE : 0);
}

/* Whether the entry continues the mapping found last: another segment of the
 * same file, or the loader's anonymous memory after its last segment. */
static bool continues(const struct comparing *c, const struct trace_map *map,
		      uint64_t start)
{
	const struct mapping *last = c->last == MAPS_NONE ? NULL :
		&c->maps->list[c->last];

	if (last == NULL || c->last_end != start || last->inode == 0)
		return false;
	if (is_file(map))
		return map->inode == last->inode &&
			map->device == last->device;
	return map->path[0] == 0 && !(map->is & GT_MAPS_OWN) &&
		last->path[0] == '/' && !(last->is & GT_MAPS_SHARED) &&
		map->is & GT_MAPS_WRITE;
}

static void found_part(struct comparing *c, const struct trace_map *map,
		       uint64_t start, uint64_t end)
{
	struct maps *maps = c->maps;
	bool first = c->head->flags & GT_MAPS_FIRST;
	struct mapping mapping = {
		.start = start, .size = end - start, .mapped = c->head->ended,
		.device = map->device, .inode = map->inode, .path = map->path,
		.node = MAPS_NO_NODE, .look = maps->looks, .looked = true,
		.is = (uint8_t)(map->is & ~(uint32_t)GT_MAPS_OWN),
		.origin = map->is & GT_MAPS_OWN ? MAP_RECORDER :
			first || strcmp(map->path, "[stack]") == 0 ?
			MAP_BEFORE : MAP_OTHER,
	};

	if (continues(c, map, start)) {
		maps_extend(maps, c->last, start, end, span_flags(map));
	} else {
		c->last = maps_add(maps, &mapping, span_flags(map));
		GROW(maps->found, maps->found_count, maps->found_capacity);
		maps->found[maps->found_count++] = c->last;
	}
	c->last_end = end;
}

/* The main stack has grown. */
static bool found_stack(struct comparing *c, const struct trace_map *map,
			uint64_t start, uint64_t end)
{
	const struct span *above = spans_at(&c->maps->spans, end);

	if (above == NULL || above->start != end ||
	    strcmp(map->path, "[stack]") != 0 ||
	    strcmp(c->maps->list[above->owner].path, "[stack]") != 0)
		return false;
	c->maps->list[above->owner].start = start;
	maps_extend(c->maps, above->owner, start, end, span_flags(map));
	return true;
}

static void found(struct comparing *c, const struct trace_map *map,
		  uint64_t start, uint64_t end)
{
	while (start < end) {
		uint64_t to = clear_part(map->what == GT_MAPS_NEW ?
					 &c->unclear : &c->leaving,
					 &start, end);

		DEBUG_ASSERT(start <= to && to <= end);
		if (start < to && !found_stack(c, map, start, to))
			found_part(c, map, start, to);
		start = to;
	}
}

/* Blocks in this range do not show who maps it next. */
static void forget_pages(struct maps *maps, uint64_t start, uint64_t end)
{
	DEBUG_ASSERT(start < end);
	memset(maps->recent, 0, sizeof(maps->recent));
	if ((end - start) / MAPS_PAGE > maps->page_count) {
		for (size_t i = 0; i < maps->page_count; i++)
			if (maps->pages[i].page - start < end - start)
				maps->pages[i].stamp = 0;
		return;
	}
	for (; start < end; start += MAPS_PAGE) {
		uint32_t i = table_get(&maps->by_page, start);

		if (i != TABLE_NONE)
			maps->pages[i].stamp = 0;
	}
}

static void lost(struct comparing *c, uint64_t start, uint64_t end)
{
	while (start < end) {
		uint64_t to = clear_part(&c->unclear, &start, end);

		DEBUG_ASSERT(start <= to && to <= end);
		if (start < to) {
			maps_cut(c->maps, start, to);
			forget_pages(c->maps, start, to);
		}
		start = to;
	}
}

/* Unmaps all spans in [start, end), of which the kernel has nothing. */
static void lost_between(struct comparing *c, uint64_t start, uint64_t end)
{
	const struct span *span = spans_at(&c->maps->spans, start);

	while (start < end && span != NULL &&
	       span->start < end) {
		uint64_t from = span->start > start ? span->start : start;
		uint64_t to = span->end < end ? span->end : end;

		lost(c, from, to);
		start = to;
		span = spans_at(&c->maps->spans, start);
	}
}

/* A span that the kernel also has. False: it belongs to another file now, so it
 * was replaced. */
static bool same_thing(struct comparing *c, struct span *span,
		       const struct trace_map *map)
{
	struct mapping *mapping = &c->maps->list[span->owner];
	bool looked = span->flags & MAPS_SPAN_LOOKED;
	bool file = span->flags & MAPS_SPAN_FILE;

	if (looked && (file != is_file(map) ||
		       (file && (mapping->inode != map->inode ||
				 mapping->device != map->device))))
		return false;
	if (span->start >= map->start && span->end <= map->end)
		span->flags = span_flags(map);
	if (!mapping->looked) {
		mapping->looked = true;
		mapping->device = map->device;
		mapping->inode = map->inode;
		mapping->path = map->path;
	}
	return true;
}

static void compare_one(struct comparing *c, const struct trace_map *map)
{
	uint64_t at = map->start;

	while (at < map->end) {
		struct span *span = spans_at(&c->maps->spans, at);
		uint64_t to = map->end;

		if (span == NULL || span->start >= map->end) {
			found(c, map, at, to);
			return;
		}
		if (span->start > at) {
			to = span->start;
			found(c, map, at, to);
		} else {
			if (span->end < to)
				to = span->end;
			if (!same_thing(c, span, map)) {
				lost(c, at, to);
				found(c, map, at, to);
			} else if (span->owner == c->last) {
				c->last_end = to;
			}
		}
		DEBUG_ASSERT(at < to);
		at = to;
	}
}

static void compare_all(struct comparing *c)
{
	struct maps *maps = c->maps;
	uint64_t top = c->head->top ? c->head->top : SPANS_END, at = 0;

	for (size_t i = 0; i < maps->kernel_count; i++) {
		const struct trace_map *map = &maps->kernel[i];

		DEBUG_ASSERT(at <= map->start);
		lost_between(c, at, map->start);
		compare_one(c, map);
		at = map->end;
	}
	lost_between(c, at, top);
}

/* Drops changes and clues that this look has settled. */
static void settle(struct maps *maps, const struct trace_maps *head)
{
	size_t kept = 0;

	for (size_t i = 0; i < maps->touch_count; i++)
		if (maps->touches[i].stamp + maps->window >= head->begun)
			maps->touches[kept++] = maps->touches[i];
	maps->touch_count = kept;
	kept = 0;
	for (size_t i = 0; i < maps->clue_count; i++) {
		const struct map_clue *clue = &maps->clues[i];

		/* the next look may find ranges that this one did not
		 * compare */
		if (clue->stamp + maps->window >= head->since)
			maps->clues[kept++] = *clue;
	}
	maps->clue_count = kept;
}

/* ---- a look ---- */

static void apply_scan(struct maps *maps, const struct map_scan *look)
{
	struct comparing c = {
		.maps = maps, .head = &look->head, .last = MAPS_NONE,
	};
	maps->looks++;
	maps->now = look->head.ended;
	maps->found_count = 0;
	if (maps->looks == 1)
		maps->first_look = look->head.begun;
	maps->last_look = look->head.begun;
	apply_differences(maps, look);
	touched_ranges(maps, look->head.begun, look->head.begun, &c.unclear);
	touched_ranges(maps, look->head.begun, look->head.since, &c.leaving);
	/* if the list was full, the next look is compared */
	if (maps->touch_count < MAPS_TOUCHES_MAX)
		compare_all(&c);
	free(c.unclear.list);
	free(c.leaving.list);
	maps_explain(maps, &look->head);
	settle(maps, &look->head);
	maps_note(maps, look->head.ended);
}

void maps_scan_all(struct maps *maps, uint64_t stamp)
{
	size_t done = 0;

	while (done < maps->waiting_count &&
	       maps->waiting[done].head.ended + maps->window < stamp) {
		apply_scan(maps, &maps->waiting[done]);
		free(maps->waiting[done++].list);
	}
	if (done > 0)
		memmove(maps->waiting, maps->waiting + done,
			(maps->waiting_count - done) *
			sizeof(*maps->waiting));
	maps->waiting_count -= done;
	maps->due = maps->waiting_count == 0 ? UINT64_MAX :
		maps->waiting[0].head.ended + maps->window;
}
