/*
 * maps_events.c: applies events and blocks to mappings. Stores data for the
 * next look: ranges that changed, and clues about the origins of mappings
 * without an event.
 *
 * Called by the reader's thread.
 */
#include "cli/model/maps/maps.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "unwind/base/assertion.h"

#define SHARED_TYPE 1		/* MAP_SHARED, or MAP_SHARED_VALIDATE: odd */
#define REMAP_KEEPS 4		/* MREMAP_DONTUNMAP */
#define CLUES_MAX (1u << 18)
#define IS_BITS (GT_MAPS_READ | GT_MAPS_WRITE | GT_MAPS_EXECUTE)

static uint64_t page_up(uint64_t address)
{
	return (address + MAPS_PAGE - 1) & ~(MAPS_PAGE - 1);
}

/* The end of a range of pages; SPANS_END if it is invalid. */
static uint64_t range_end(uint64_t start, uint64_t size)
{
	if (start >= SPANS_END || size > SPANS_END - start)
		return start < SPANS_END ? SPANS_END : start;
	return page_up(start + size);
}

/* ---- for the next look ---- */

static void touch(struct maps *maps, uint64_t start, uint64_t end,
		  bool unmapped)
{
	if (maps->touch_count == MAPS_TOUCHES_MAX)
		return;		/* the look checks whether the list is full */
	GROW(maps->touches, maps->touch_count, maps->touch_capacity);
	maps->touches[maps->touch_count++] =
		(struct map_touch){ start, end, maps->now, unmapped };
}

/* Drops clues about blocks that were freed since. */
static void drop_clues(struct maps *maps)
{
	size_t kept = 0;

	for (size_t i = 0; i < maps->clue_count; i++) {
		const struct map_clue *clue = &maps->clues[i];

		if (clue->what != 0 ||
		    blocks_find(maps->blocks, clue->address) != NULL)
			maps->clues[kept++] = *clue;
	}
	if (kept > CLUES_MAX / 2) {	/* keep the newest half */
		memmove(maps->clues, maps->clues + kept / 2,
			(kept - kept / 2) * sizeof(*maps->clues));
		kept -= kept / 2;
	}
	maps->clue_count = kept;
	assert(maps->clue_count < CLUES_MAX);
}

static void add_clue(struct maps *maps, const struct map_clue *clue)
{
	if (maps->clue_count == CLUES_MAX)
		drop_clues(maps);
	GROW(maps->clues, maps->clue_count, maps->clue_capacity);
	maps->clues[maps->clue_count++] = *clue;
}

/* ---- events ---- */

/* From now on the range belongs to the event's mapping, whatever was there
 * before. */
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
	maps_unfind(maps, start, end);
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
	if (start >= end)
		return;		/* nothing is removed */
	while (span != NULL && span->start < end) {
		struct span piece = *span;

		if (piece.start < start)
			piece.start = start;
		if (piece.end > end)
			piece.end = end;
		DEBUG_ASSERT(piece.start < piece.end);
		GROW(maps->undo, maps->undo_count, maps->undo_capacity);
		maps->undo[maps->undo_count++] = piece;
		span = spans_at(&maps->spans, span->end);
	}
}

/* The munmap before this event has failed: restores what it removed. */
static void undo_unmap(struct maps *maps, uint32_t lane)
{
	maps->failed++;
	if (maps->undo_lane != lane)
		return;		/* the next look will show it */
	for (size_t i = 0; i < maps->undo_count; i++) {
		const struct span *piece = &maps->undo[i];
		const struct span *there = spans_at(&maps->spans,
						    piece->start);

		if (there == NULL || there->start >= piece->end)
			maps_restore(maps, piece);
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

/* Moves the spans of [from, from + size) to `to`. */
static void move_spans(struct maps *maps, uint64_t from, uint64_t size,
		       uint64_t to)
{
	struct span *pieces;
	size_t count = spans_take(&maps->spans, from, from + size, &pieces);

	maps_cut(maps, to, to + size);
	for (size_t i = 0; i < count; i++) {
		const struct span *piece = &pieces[i];
		struct mapping *mapping = &maps->list[piece->owner];

		DEBUG_ASSERT(piece->start >= from && piece->end - from <= size);
		if (piece->start == mapping->start)
			mapping->start = piece->start - from + to;
		spans_put(&maps->spans, piece->start - from + to,
			  piece->end - from + to, piece->owner, piece->flags);
	}
	free(pieces);
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
		/* the old mapping stays: this is another one */
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
		return;		/* no look found it */
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

/* Stores the event if it is the first block in the page. Then it may show who
 * made a mapping that a look found before. */
static void first_in_page(struct maps *maps, uint64_t address,
			  const struct trace_event *event)
{
	uint64_t page = address & ~(MAPS_PAGE - 1);
	uint32_t i = table_get(&maps->by_page, page);
	struct map_clue clue = { .stamp = event->stamp, .address = address };

	DEBUG_ASSERT(i == TABLE_NONE ||
		     (i < maps->page_count && maps->pages[i].page == page));
	maps->recent[maps_recent_place(page / MAPS_PAGE)] = page / MAPS_PAGE;
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

void maps_block(struct maps *maps, const struct trace_event *event)
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
