/*
 * maps.c: mappings, what events do to them, and figures. How looks come in is
 * in maps_look.c, who made what they find in maps_origin.c.
 *
 *	EXTRA events ──▶ maps_extra ──┐
 *	blocks ────────▶ maps_event ──┼──▶ spans, mappings, sites, curve
 *	MAPS chunks ───▶ maps_take ───┘
 *
 * A mapping's entry is used again once MAPS_KEPT others have gone after it; its
 * site keeps the figures. So memory grows with what is mapped at one time.
 *
 * I1: a mapping's `bytes` is the sum of its spans; it is gone if that is 0.
 * I2: a site's live_bytes is the sum over its mappings.
 *
 * Called by the reader's thread.
 */
#include "cli/model/maps.h"

#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"

#define SHARED_TYPE 1		/* MAP_SHARED, and its VALIDATE form: odd */
#define REMAP_KEEPS 4		/* MREMAP_DONTUNMAP */
#define CLUES_MAX (1u << 18)
#define IS_BITS (GT_MAPS_READ | GT_MAPS_WRITE | GT_MAPS_EXECUTE)

const char *const map_origin_names[MAP_ORIGINS] = {
	[MAP_PROGRAM] = "program",
	[MAP_MALLOC] = "malloc",
	[MAP_CREATE] = "pthread_create",
	[MAP_DLOPEN] = "dlopen",
	[MAP_ALLOCATOR] = "allocator",
	[MAP_BEFORE] = "before recording",
	[MAP_RECORDER] = "gnomon",
	[MAP_OTHER] = "unknown",
};

static uint64_t page_up(uint64_t address)
{
	return (address + MAPS_PAGE - 1) & ~(MAPS_PAGE - 1);
}

/* The end of a range of pages; SPANS_END where it makes no sense. */
static uint64_t range_end(uint64_t start, uint64_t size)
{
	if (start >= SPANS_END || size > SPANS_END - start)
		return start < SPANS_END ? SPANS_END : start;
	return page_up(start + size);
}

/* ---- figures ---- */

static struct map_site *site_of(struct maps *maps,
				const struct mapping *mapping)
{
	uint64_t key = (uint64_t)mapping->origin << 32 | mapping->node;
	uint32_t i = table_get(&maps->by_site, key);

	if (i == TABLE_NONE) {
		GROW(maps->sites, maps->site_count, maps->site_capacity);
		i = (uint32_t)maps->site_count++;
		maps->sites[i] = (struct map_site){
			.node = mapping->node, .origin = mapping->origin
		};
		table_set(&maps->by_site, key, i);
	}
	return &maps->sites[i];
}

/* Put into its site's figures, or taken out of them again. */
static void count_mapping(struct maps *maps, const struct mapping *mapping,
			  uint64_t one)
{
	struct map_site *site = site_of(maps, mapping);

	site->count += one;
	site->total_bytes += mapping->size * one;
	site->live_count += mapping->bytes > 0 ? one : 0;
	site->live_bytes += mapping->bytes * one;
	if (mapping->origin == MAP_RECORDER)
		maps->own_bytes += mapping->bytes * one;
	if (mapping->origin == MAP_OTHER)
		maps->unclaimed += mapping->bytes * one;
}

#define COUNT_IN UINT64_C(1)
#define COUNT_OUT UINT64_MAX	/* minus one */

/* Half as many points: of each two the larger. */
static void thin_out(struct map_curve *curve)
{
	uint64_t whole = curve->points[curve->count - 1].stamp -
		curve->points[0].stamp;
	size_t kept = 0;

	for (size_t i = 0; i < curve->count; i += 2) {
		struct map_point point = curve->points[i];

		if (i + 1 < curve->count &&
		    curve->points[i + 1].bytes > point.bytes)
			point.bytes = curve->points[i + 1].bytes;
		curve->points[kept++] = point;
	}
	curve->count = kept;
	curve->step = whole / (MAPS_POINTS / 2) + 1;
}

void maps_note(struct maps *maps, uint64_t stamp)
{
	struct map_curve *curve = &maps->curve;
	uint64_t bytes = maps->spans.bytes - maps->own_bytes;
	struct map_point *last = curve->count > 0 ?
		&curve->points[curve->count - 1] : NULL;

	if (bytes > curve->peak.bytes)
		curve->peak = (struct map_point){ stamp, bytes };
	if (last != NULL && last->bytes == bytes)
		return;
	if (last != NULL && stamp <= last->stamp && curve->step == 0) {
		last->bytes = bytes;
		return;
	}
	if (last != NULL && stamp < last->stamp + curve->step) {
		if (bytes > last->bytes)
			last->bytes = bytes;
		return;
	}
	if (curve->count == MAPS_POINTS)
		thin_out(curve);
	curve->points[curve->count++] = (struct map_point){ stamp, bytes };
}

/* ---- mappings ---- */

uint32_t maps_node(struct maps *maps, uint32_t context)
{
	return contexts_node(maps->contexts, context);
}

/* An entry for a mapping: a new one, or that of the one that went first. */
static uint32_t new_entry(struct maps *maps)
{
	size_t place = maps->gone_count % MAPS_KEPT;

	if (maps->gone_count >= MAPS_KEPT &&
	    maps->gone[place] != MAPS_NONE) {
		uint32_t i = maps->gone[place];

		maps->gone[place] = MAPS_NONE;
		/* it may have come back (undo) */
		if (maps->list[i].bytes == 0) {
			maps->forgotten++;
			return i;
		}
	}
	GROW(maps->list, maps->count, maps->capacity);
	return (uint32_t)maps->count++;
}

static void retire(struct maps *maps, uint32_t index)
{
	if (maps->gone == NULL) {
		maps->gone = grow_resize(NULL, MAPS_KEPT,
					 sizeof(*maps->gone));
		memset(maps->gone, 0xff, MAPS_KEPT * sizeof(*maps->gone));
	}
	maps->gone[maps->gone_count++ % MAPS_KEPT] = index;
}

uint32_t maps_add(struct maps *maps, const struct mapping *mapping,
		  uint32_t flags)
{
	uint32_t i = new_entry(maps);
	struct mapping *new = &maps->list[i];

	*new = *mapping;
	new->bytes = new->size;
	spans_put(&maps->spans, new->start, new->start + new->size, i, flags);
	count_mapping(maps, new, COUNT_IN);
	return i;
}

void maps_extend(struct maps *maps, uint32_t index, uint64_t start,
		 uint64_t end, uint32_t flags)
{
	struct mapping *mapping = &maps->list[index];

	count_mapping(maps, mapping, COUNT_OUT);
	mapping->size += end - start;
	mapping->bytes += end - start;
	count_mapping(maps, mapping, COUNT_IN);
	spans_put(&maps->spans, start, end, index, flags);
}

static void take_piece(void *owner, const struct span *piece)
{
	struct maps *maps = owner;
	struct mapping *mapping = &maps->list[piece->owner];

	count_mapping(maps, mapping, COUNT_OUT);
	mapping->bytes -= piece->end - piece->start;
	count_mapping(maps, mapping, COUNT_IN);
	if (mapping->bytes > 0)
		return;
	mapping->unmapped = maps->now;
	retire(maps, piece->owner);
}

void maps_cut(struct maps *maps, uint64_t start, uint64_t end)
{
	spans_cut(&maps->spans, start, end, take_piece, maps);
}

struct regrouping {
	struct maps *maps;
	struct span *list;
	size_t count, capacity;
};

static void keep_piece(void *owner, const struct span *piece)
{
	struct regrouping *group = owner;

	GROW(group->list, group->count, group->capacity);
	group->list[group->count++] = *piece;
}

/* Spans that are taken from their mappings without having gone. */
static void part_from(struct maps *maps, const struct span *piece)
{
	struct mapping *mapping = &maps->list[piece->owner];
	uint64_t bytes = piece->end - piece->start;

	count_mapping(maps, mapping, COUNT_OUT);
	mapping->bytes -= bytes;
	mapping->size -= bytes < mapping->size ? bytes : mapping->size;
	if (mapping->size > 0)
		count_mapping(maps, mapping, COUNT_IN);
	if (mapping->bytes > 0)
		return;
	mapping->unmapped = maps->now;
	retire(maps, piece->owner);
}

/* As if the last look had not found it: another one tells whose it is. */
static void unfind_piece(void *owner, const struct span *piece)
{
	struct maps *maps = owner;
	const struct mapping *mapping = &maps->list[piece->owner];

	if (mapping->origin == MAP_OTHER && mapping->look != 0 &&
	    mapping->look == maps->looks)
		part_from(maps, piece);
	else
		take_piece(owner, piece);
}

uint32_t maps_claim(struct maps *maps, uint64_t start, uint64_t end,
		    enum map_origin origin, uint32_t node, uint64_t stamp)
{
	struct regrouping group = { .maps = maps };
	struct mapping mapping = { 0 };
	uint32_t index = MAPS_NONE;

	spans_cut(&maps->spans, start, end, keep_piece, &group);
	for (size_t i = 0; i < group.count; i++) {
		const struct span *piece = &group.list[i];

		if (index == MAPS_NONE) {
			mapping = maps->list[piece->owner];
			mapping.start = piece->start;
			mapping.size = piece->end - piece->start;
			mapping.mapped = stamp;
			mapping.origin = (uint8_t)origin;
			mapping.node = node;
			part_from(maps, piece);
			index = maps_add(maps, &mapping, piece->flags);
			continue;
		}
		part_from(maps, piece);
		maps_extend(maps, index, piece->start, piece->end,
			    piece->flags);
	}
	free(group.list);
	return index;
}

/* ---- for the next look ---- */

static void touch(struct maps *maps, uint64_t start, uint64_t end,
		  bool unmapped)
{
	if (maps->touch_count == MAPS_TOUCHES_MAX)
		return;		/* the look knows that there were so many */
	GROW(maps->touches, maps->touch_count, maps->touch_capacity);
	maps->touches[maps->touch_count++] =
		(struct map_touch){ start, end, maps->now, unmapped };
}

/* Blocks that were freed since explain nothing. */
static void drop_clues(struct maps *maps)
{
	size_t kept = 0;

	for (size_t i = 0; i < maps->clue_count; i++) {
		const struct map_clue *clue = &maps->clues[i];

		if (clue->what != 0 ||
		    blocks_find(maps->blocks, clue->address) != NULL)
			maps->clues[kept++] = *clue;
	}
	if (kept > CLUES_MAX / 2) {	/* the newest half */
		memmove(maps->clues, maps->clues + kept / 2,
			(kept - kept / 2) * sizeof(*maps->clues));
		kept -= kept / 2;
	}
	maps->clue_count = kept;
}

static void add_clue(struct maps *maps, const struct map_clue *clue)
{
	if (maps->clue_count == CLUES_MAX)
		drop_clues(maps);
	GROW(maps->clues, maps->clue_count, maps->clue_capacity);
	maps->clues[maps->clue_count++] = *clue;
}

/* ---- events ---- */

/* What an event maps is there from now on, whatever was thought to be. */
static uint32_t map_range(struct maps *maps, const struct trace_event *event,
			  uint64_t start, uint64_t end, uint64_t within,
			  uint32_t is)
{
	struct mapping mapping = {
		.start = start, .size = end - start, .mapped = event->stamp,
		.path = "", .is = (uint8_t)is,
		.node = maps_node(maps, event->context),
		.origin = within < GT_WITHIN_COUNT ? (uint8_t)within :
			MAP_OTHER,
	};

	if (start >= end)
		return MAPS_NONE;
	spans_cut(&maps->spans, start, end, unfind_piece, maps);
	touch(maps, start, end, false);
	return maps_add(maps, &mapping, is);
}

static void event_map(struct maps *maps, const struct trace_event *event)
{
	uint64_t flags = event->args[0] >> 32;
	uint32_t is = (uint32_t)event->args[0] & IS_BITS;

	if (flags & SHARED_TYPE)
		is |= GT_MAPS_SHARED;
	map_range(maps, event, event->address,
		  range_end(event->address, event->size), event->args[3], is);
}

static void keep_undo(struct maps *maps, uint64_t start, uint64_t end)
{
	const struct span *span = spans_at(&maps->spans, start);

	maps->undo_count = 0;
	while (span != NULL && span->start < end) {
		struct span piece = *span;

		if (piece.start < start)
			piece.start = start;
		if (piece.end > end)
			piece.end = end;
		GROW(maps->undo, maps->undo_count, maps->undo_capacity);
		maps->undo[maps->undo_count++] = piece;
		span = spans_at(&maps->spans, span->end);
	}
}

/* The munmap before this event has failed: nothing went. */
static void undo_unmap(struct maps *maps, uint32_t lane)
{
	maps->failed++;
	if (maps->undo_lane != lane)
		return;		/* the next look will show it */
	for (size_t i = 0; i < maps->undo_count; i++) {
		const struct span *piece = &maps->undo[i];
		const struct span *there = spans_at(&maps->spans,
						    piece->start);
		struct mapping *mapping = &maps->list[piece->owner];

		if (there != NULL && there->start < piece->end)
			continue;
		count_mapping(maps, mapping, COUNT_OUT);
		mapping->bytes += piece->end - piece->start;
		mapping->unmapped = 0;
		count_mapping(maps, mapping, COUNT_IN);
		spans_put(&maps->spans, piece->start, piece->end,
			  piece->owner, piece->flags);
	}
	maps->undo_count = 0;
}

static void event_unmap(struct maps *maps, uint32_t lane,
			const struct trace_event *event)
{
	uint64_t start = event->address;
	uint64_t end = range_end(start, event->size);

	if (event->args[0] != 0) {
		undo_unmap(maps, lane);
		return;
	}
	maps->undo_lane = lane;
	keep_undo(maps, start, end);
	maps_cut(maps, start, end);
	touch(maps, start, end, true);
}

/* Spans of [from, from + size) come to lie at `to`. */
static void move_spans(struct maps *maps, uint64_t from, uint64_t size,
		       uint64_t to)
{
	struct regrouping group = { .maps = maps };

	spans_cut(&maps->spans, from, from + size, keep_piece, &group);
	maps_cut(maps, to, to + size);
	for (size_t i = 0; i < group.count; i++) {
		const struct span *piece = &group.list[i];
		struct mapping *mapping = &maps->list[piece->owner];

		if (piece->start == mapping->start)
			mapping->start = piece->start - from + to;
		spans_put(&maps->spans, piece->start - from + to,
			  piece->end - from + to, piece->owner, piece->flags);
	}
	free(group.list);
}

static void event_remap(struct maps *maps, const struct trace_event *event)
{
	uint64_t to = event->address, from = event->args[0];
	uint64_t to_end = range_end(to, event->size);
	uint64_t from_end = range_end(from, event->args[1]);
	uint64_t size = to_end - to < from_end - from ? to_end - to :
		from_end - from;
	const struct span *span = spans_at(&maps->spans, from);
	uint32_t is = span != NULL && span->start <= from ? span->flags :
		GT_MAPS_READ | GT_MAPS_WRITE;

	if (to >= SPANS_END || from >= SPANS_END)
		return;
	if (event->args[1] == 0 || event->args[2] & REMAP_KEEPS) {
		/* the old one stays: this is another one */
		map_range(maps, event, to, to_end, event->args[3], is);
		return;
	}
	touch(maps, from, from_end, true);
	touch(maps, to, to_end, false);
	if (to != from)
		move_spans(maps, from, size, to);
	maps_cut(maps, from + size, from_end);
	map_range(maps, event, to + size, to_end, event->args[3], is);
}

static void event_protect(struct maps *maps, const struct trace_event *event)
{
	uint64_t start = event->address;
	uint64_t end = range_end(start, event->size);
	struct span *span;

	if (start >= end)
		return;
	spans_split(&maps->spans, start);
	spans_split(&maps->spans, end);
	for (span = spans_at(&maps->spans, start);
	     span != NULL && span->start < end;
	     span = spans_at(&maps->spans, span->end))
		span->flags = (span->flags & ~(uint32_t)IS_BITS) |
			((uint32_t)event->args[0] & IS_BITS);
}

static void event_brk(struct maps *maps, const struct trace_event *event)
{
	uint64_t old = range_end(event->args[0], 0);
	uint64_t new = range_end(event->address, 0);
	uint32_t i;

	if (new >= SPANS_END || old >= SPANS_END)
		return;
	if (new < old) {
		maps_cut(maps, new, old);
		touch(maps, new, old, true);
		return;
	}
	i = map_range(maps, event, old, new, event->args[3],
		      GT_MAPS_READ | GT_MAPS_WRITE);
	if (i != MAPS_NONE)
		maps->list[i].path = "[heap]";
}

static void event_shmat(struct maps *maps, const struct trace_event *event)
{
	struct map_clue clue = {
		.stamp = event->stamp, .address = event->address,
		.node = maps_node(maps, event->context),
		.what = GT_EXTRA_SHMAT,
	};
	uint32_t i = map_range(maps, event, event->address,
			       range_end(event->address, event->size),
			       GT_WITHIN_PROGRAM, IS_BITS | GT_MAPS_SHARED);

	if (i != MAPS_NONE)
		maps->list[i].attached = true;
	else
		add_clue(maps, &clue);
}

static void event_shmdt(struct maps *maps, const struct trace_event *event)
{
	const struct span *span = spans_at(&maps->spans, event->address);
	uint64_t at = event->address, end;
	uint32_t owner;

	if (event->args[0] != 0) {
		maps->failed++;
		return;
	}
	if (span == NULL || span->start != at)
		return;		/* no look saw it */
	owner = span->owner;
	end = at + maps->list[owner].size;
	touch(maps, at, end, true);
	while ((span = spans_at(&maps->spans, at)) != NULL &&
	       span->start < end) {
		uint64_t from = span->start, to = span->end;

		if (span->owner == owner)
			maps_cut(maps, from, to);
		at = to;
	}
}

static void event_clue(struct maps *maps, const struct trace_event *event)
{
	struct map_clue clue = {
		.stamp = event->stamp, .address = event->address,
		.node = maps_node(maps, event->context),
		.what = event->what,
	};

	if (event->what == GT_EXTRA_DLOPEN)
		clue.address = event->args[0];
	else
		maps_explain_create(maps, &clue);
	add_clue(maps, &clue);
}

void maps_extra(struct maps *maps, uint32_t lane,
		const struct trace_event *event)
{
	maps->now = event->stamp;
	if (event->what < GT_EXTRA_COUNT)
		maps->calls[event->what]++;
	switch (event->what) {
	case GT_EXTRA_MAP:
		event_map(maps, event);
		break;
	case GT_EXTRA_UNMAP:
		event_unmap(maps, lane, event);
		break;
	case GT_EXTRA_REMAP:
		event_remap(maps, event);
		break;
	case GT_EXTRA_PROTECT:
		event_protect(maps, event);
		return;
	case GT_EXTRA_BRK:
		event_brk(maps, event);
		break;
	case GT_EXTRA_SHMAT:
		event_shmat(maps, event);
		break;
	case GT_EXTRA_SHMDT:
		event_shmdt(maps, event);
		break;
	case GT_EXTRA_CREATE:
	case GT_EXTRA_DLOPEN:
		event_clue(maps, event);
		return;
	default:
		return;
	}
	maps_note(maps, event->stamp);
}

/* ---- blocks ---- */

/* Notes it if it is the first block there; then it may tell who mapped what
 * a look was quicker to see. */
static void first_in_page(struct maps *maps, uint64_t address,
			  const struct trace_event *event)
{
	uint64_t page = address & ~(MAPS_PAGE - 1);
	uint32_t i = table_get(&maps->by_page, page);
	struct map_clue clue = { .stamp = event->stamp, .address = address };

	if (i != TABLE_NONE && maps->pages[i].stamp != 0)
		return;
	if (i == TABLE_NONE) {
		GROW(maps->pages, maps->page_count, maps->page_capacity);
		i = (uint32_t)maps->page_count++;
		table_set(&maps->by_page, page, i);
	}
	clue.node = maps_node(maps, event->context);
	maps->pages[i] = (struct map_page){ page, event->stamp, clue.node };
	maps_explain_late(maps, address, 0, &clue);
}

static void take_block(struct maps *maps, const struct trace_event *event)
{
	uint64_t address = event->address, size;

	if (event->layout & GT_LAYOUT_MMAPPED) {
		uint64_t start = (address - 16) & ~(MAPS_PAGE - 1);
		struct map_clue clue = {
			.stamp = event->stamp, .address = address,
			.node = maps_node(maps, event->context),
		};

		size = gt_layout_usable(event->size, event->layout) + 16;
		clue.size = page_up(address - 16 + size) - start;
		add_clue(maps, &clue);
		maps_explain_late(maps, start, clue.size, &clue);
		return;
	}
	size = event->size > 0 ? event->size - 1 : 0;
	first_in_page(maps, address, event);
	if ((address + size) / MAPS_PAGE != address / MAPS_PAGE)
		first_in_page(maps, address + size, event);
}

void maps_event(struct maps *maps, const struct trace_event *event)
{
	maps_until(maps, event->stamp);
	if (event->kind == GT_ALLOC || event->kind == GT_REALLOC_DONE)
		take_block(maps, event);
}

/* ---- the whole ---- */

void maps_init(struct maps *maps, const struct blocks *blocks,
	       struct contexts *contexts)
{
	memset(maps, 0, sizeof(*maps));
	maps->blocks = blocks;
	maps->contexts = contexts;
	maps->due = UINT64_MAX;
}

void maps_finish(struct maps *maps)
{
	maps_look_all(maps, UINT64_MAX);
	if (maps->curve.count > 0 && maps->curve.step > 0) {
		/* what it came to, not the most of its last points */
		maps->curve.step = 0;
		maps_note(maps, maps->now);
	}
}

static void free_look(struct map_look *look)
{
	free(look->list);
}

void maps_free(struct maps *maps)
{
	for (size_t i = 0; i < maps->waiting_count; i++)
		free_look(&maps->waiting[i]);
	free_look(&maps->building);
	spans_free(&maps->spans);
	table_free(&maps->by_site);
	table_free(&maps->by_page);
	intern_free(&maps->paths);
	free(maps->list);
	free(maps->found);
	free(maps->gone);
	free(maps->sites);
	free(maps->touches);
	free(maps->clues);
	free(maps->undo);
	free(maps->kernel);
	free(maps->waiting);
	free(maps->pages);
	memset(maps, 0, sizeof(*maps));
}
