/*
 * maps.c: mappings and their measures. maps_events.c applies events,
 * maps_scan.c applies looks, maps_origin.c finds the origins of mappings that a
 * look has found.
 *
 *	EXTRA events ──▶ maps_extra ──┐
 *	blocks ────────▶ maps_event ──┼──▶ spans, mappings, sites, curve
 *	MAPS chunks ───▶ maps_take ───┘
 *
 * An unmapped mapping's entry is reused once MAPS_KEPT others have been
 * unmapped after it; its site keeps the sums. So memory grows with the mappings
 * that exist at one time.
 *
 * I1: a mapping's `bytes` is the sum of its spans; it is unmapped if that is 0.
 * I2: a site's live_bytes is the sum over its mappings.
 *
 * Called by the reader's thread.
 */
#include "cli/model/maps/maps.h"

#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "unwind/base/assertion.h"


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

/* ---- measures ---- */

static struct map_site *site_of(struct maps *maps,
				const struct mapping *mapping)
{
	uint64_t key = (uint64_t)mapping->origin << 32 | mapping->node;
	uint32_t i = table_number(&maps->by_site, key, maps->site_count);

	DEBUG_ASSERT(i <= maps->site_count);
	if (i == maps->site_count) {
		GROW(maps->sites, maps->site_count, maps->site_capacity);
		maps->sites[maps->site_count++] = (struct map_site){
			.node = mapping->node, .origin = mapping->origin
		};
	}
	return &maps->sites[i];
}

/* Adds a mapping to the sums of its site, or subtracts it. */
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
		maps->unattributed += mapping->bytes * one;
}

#define COUNT_IN UINT64_C(1)
#define COUNT_OUT UINT64_MAX	/* minus one */

/* Reduces the curve to about half as many points: a point has the maximum of
 * all points up to a step after it; later points keep their own time. */
static void downsample(struct map_curve *curve)
{
	uint64_t whole = curve->points[curve->count - 1].stamp -
		curve->points[0].stamp;
	size_t last = 0;

	assert(curve->count == MAPS_POINTS);
	curve->step = whole / (MAPS_POINTS / 2) + 1;
	for (size_t i = 1; i < curve->count; i++) {
		struct map_point point = curve->points[i];

		if (point.stamp - curve->points[last].stamp >= curve->step)
			curve->points[++last] = point;
		else if (point.bytes > curve->points[last].bytes)
			curve->points[last].bytes = point.bytes;
	}
	curve->count = last + 1;
	assert(curve->count < MAPS_POINTS);
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
	if (last != NULL &&
	    (stamp < last->stamp || stamp - last->stamp < curve->step)) {
		if (bytes > last->bytes)
			last->bytes = bytes;
		return;
	}
	if (curve->count == MAPS_POINTS)
		downsample(curve);
	curve->points[curve->count++] = (struct map_point){ stamp, bytes };
}

/* ---- mappings ---- */

uint32_t maps_node(struct maps *maps, uint32_t context)
{
	return contexts_node(maps->contexts, context);
}

/* An entry for a mapping: a new one, or that of the mapping that was unmapped
 * first. */
static uint32_t new_entry(struct maps *maps)
{
	size_t place = maps->gone_count % MAPS_KEPT;

	if (maps->gone_count >= MAPS_KEPT &&
	    maps->gone[place] != MAPS_NONE) {
		uint32_t i = maps->gone[place];

		maps->gone[place] = MAPS_NONE;
		/* it may have been mapped again (undo) */
		if (maps->list[i].bytes == 0) {
			maps->forgotten++;
			return i;
		}
	}
	GROW(maps->list, maps->count, maps->capacity);
	assert(maps->count < MAPS_NONE);
	return (uint32_t)maps->count++;
}

static void retire(struct maps *maps, uint32_t index)
{
	if (maps->gone == NULL) {
		maps->gone = grow_resize(NULL, MAPS_KEPT,
					 sizeof(*maps->gone));
		memset(maps->gone, 0xff, MAPS_KEPT * sizeof(*maps->gone));
	}
	DEBUG_ASSERT(index < maps->count && maps->list[index].bytes == 0);
	maps->gone[maps->gone_count++ % MAPS_KEPT] = index;
}

uint32_t maps_add(struct maps *maps, const struct mapping *mapping,
		  uint32_t flags)
{
	uint32_t i = new_entry(maps);
	struct mapping *new = &maps->list[i];

	*new = *mapping;
	new->bytes = new->size;
	DEBUG_ASSERT(new->size > 0 && new->start < new->start + new->size);
	spans_put(&maps->spans, new->start, new->start + new->size, i, flags);
	count_mapping(maps, new, COUNT_IN);
	return i;
}

void maps_extend(struct maps *maps, uint32_t index, uint64_t start,
		 uint64_t end, uint32_t flags)
{
	struct mapping *mapping = &maps->list[index];

	DEBUG_ASSERT(index < maps->count && start < end);
	count_mapping(maps, mapping, COUNT_OUT);
	mapping->size += end - start;
	mapping->bytes += end - start;
	count_mapping(maps, mapping, COUNT_IN);
	spans_put(&maps->spans, start, end, index, flags);
}

/* Takes a span from its mapping. `gone`: it was unmapped; otherwise the mapping
 * never had it. */
static void take_span(struct maps *maps, const struct span *piece, bool gone)
{
	struct mapping *mapping = &maps->list[piece->owner];
	uint64_t bytes = piece->end - piece->start;

	DEBUG_ASSERT(piece->owner < maps->count &&
		     mapping->bytes >= bytes); /* I1 */
	count_mapping(maps, mapping, COUNT_OUT);
	mapping->bytes -= bytes;
	if (!gone)
		mapping->size -= bytes < mapping->size ? bytes : mapping->size;
	if (mapping->size > 0)
		count_mapping(maps, mapping, COUNT_IN);
	if (mapping->bytes > 0)
		return;
	mapping->unmapped = maps->now;
	retire(maps, piece->owner);
}

static void take_piece(void *owner, const struct span *piece)
{
	take_span(owner, piece, true);
}

void maps_cut(struct maps *maps, uint64_t start, uint64_t end)
{
	spans_cut(&maps->spans, start, end, take_piece, maps);
}

static void unfind_piece(void *owner, const struct span *piece)
{
	struct maps *maps = owner;
	const struct mapping *mapping = &maps->list[piece->owner];

	take_span(maps, piece, mapping->origin != MAP_OTHER ||
		  mapping->look == 0 || mapping->look != maps->looks);
}

void maps_unfind(struct maps *maps, uint64_t start, uint64_t end)
{
	spans_cut(&maps->spans, start, end, unfind_piece, maps);
}

void maps_restore(struct maps *maps, const struct span *piece)
{
	struct mapping *mapping = &maps->list[piece->owner];

	DEBUG_ASSERT(piece->owner < maps->count && piece->start < piece->end);
	count_mapping(maps, mapping, COUNT_OUT);
	mapping->bytes += piece->end - piece->start;
	mapping->unmapped = 0;
	count_mapping(maps, mapping, COUNT_IN);
	spans_put(&maps->spans, piece->start, piece->end, piece->owner,
		  piece->flags);
}

uint32_t maps_attribute(struct maps *maps, uint64_t start, uint64_t end,
			enum map_origin origin, uint32_t node, uint64_t stamp)
{
	struct mapping mapping = { 0 };
	uint32_t index = MAPS_NONE;
	struct span *pieces;
	size_t count = spans_take(&maps->spans, start, end, &pieces);

	for (size_t i = 0; i < count; i++) {
		const struct span *piece = &pieces[i];

		if (index == MAPS_NONE) {
			mapping = maps->list[piece->owner];
			mapping.start = piece->start;
			mapping.size = piece->end - piece->start;
			mapping.mapped = stamp;
			mapping.origin = (uint8_t)origin;
			mapping.node = node;
			take_span(maps, piece, false);
			index = maps_add(maps, &mapping, piece->flags);
			continue;
		}
		take_span(maps, piece, false);
		maps_extend(maps, index, piece->start, piece->end,
			    piece->flags);
	}
	free(pieces);
	return index;
}

/* ---- all of struct maps ---- */

void maps_init(struct maps *maps, const struct blocks *blocks,
	       struct contexts *contexts)
{
	memset(maps, 0, sizeof(*maps));
	maps->blocks = blocks;
	maps->contexts = contexts;
	maps->due = UINT64_MAX;
}

#ifdef GNOMON_DEBUG_ASSERTS
static bool curve_is_valid(const struct map_curve *curve)
{
	for (size_t i = 1; i < curve->count; i++)
		if (curve->points[i].stamp < curve->points[i - 1].stamp)
			return false;
	return curve->count <= MAPS_POINTS;
}

bool maps_is_valid(const struct maps *maps)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < maps->count; i++)
		bytes += maps->list[i].bytes;
	for (size_t i = 1; i < maps->kernel_count; i++)
		if (maps->kernel[i].start < maps->kernel[i - 1].end)
			return false;
	return spans_is_valid(&maps->spans) &&
	       bytes == maps->spans.bytes &&	/* I1 */
	       curve_is_valid(&maps->curve);
}
#endif

void maps_finish(struct maps *maps)
{
	maps_scan_all(maps, UINT64_MAX);
	DEBUG_ASSERT(maps_is_valid(maps));
	if (maps->curve.count > 0 && maps->curve.step > 0) {
		/* end with the exact value, not a maximum of several points */
		maps->curve.step = 0;
		maps_note(maps, maps->now);
	}
}

void maps_free(struct maps *maps)
{
	for (size_t i = 0; i < maps->waiting_count; i++)
		free(maps->waiting[i].list);
	free(maps->building.list);
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
