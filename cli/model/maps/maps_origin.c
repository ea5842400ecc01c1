/*
 * maps_origin.c: finds the origin of a mapping that a look has found. No call
 * was recorded, but an event shows why the C library made it:
 *
 *	a block in a mapping of its own      malloc, of this block
 *	a thread whose stack is in it        pthread_create, of this thread
 *	a file with code, after a dlopen     dlopen
 *	the first block in it                malloc, of this block: an arena, or
 *	                                     more of the heap
 *
 * The event may come before the look or after it.
 *
 * Called by the reader's thread.
 */
#include <string.h>

#include "unwind/base/assertion.h"

#include "cli/base/text/base_name.h"
#include "cli/model/maps/maps.h"

#define ARENA_ALIGN (UINT64_C(64) << 20)	/* heaps of glibc's other
						 * arenas */

static bool is_unowned(const struct maps *maps, const struct span *span)
{
	const struct mapping *mapping = &maps->list[span->owner];

	DEBUG_ASSERT(span->owner < maps->count);
	return mapping->look != 0 && !(span->flags & MAPS_SPAN_FILE) &&
		(mapping->origin == MAP_OTHER ||
		 (mapping->look == maps->looks &&
		  mapping->origin == MAP_DLOPEN));
}

static bool is_accessible(const struct span *span)
{
	return span->flags & (GT_MAPS_READ | GT_MAPS_WRITE |
			      GT_MAPS_EXECUTE);
}

/* The span at this address, if its origin is not known. */
static const struct span *unowned_at(const struct maps *maps,
				     uint64_t address)
{
	const struct span *span = spans_at(&maps->spans, address);

	if (span == NULL || span->start > address || !is_unowned(maps, span))
		return NULL;
	return span;
}

/* The end of the span, including the memory that an arena has reserved after
 * it. */
static uint64_t end_with_rest(const struct maps *maps,
			      const struct span *span)
{
	const struct span *rest = unowned_at(maps, span->end);

	if (span->start % ARENA_ALIGN != 0 || rest == NULL ||
	    is_accessible(rest) ||
	    rest->end - span->start > ARENA_ALIGN)
		return span->end;
	return rest->end;
}

/* The start of a stack's span, including the guard below it. A range larger
 * than the stack is not a guard, but another stack that a look found before it
 * was made accessible. */
static uint64_t start_with_guard(const struct maps *maps,
				 const struct span *span)
{
	const struct span *guard = span->start == 0 ? NULL :
		unowned_at(maps, span->start - 1);

	return guard == NULL || is_accessible(guard) ||
			guard->end - guard->start >= span->end - span->start ?
		span->start : guard->start;
}

/* The span for a block in a mapping of its own. It may be a mapping from before
 * the recording. */
static const struct span *ground_of(const struct maps *maps, uint64_t start)
{
	const struct span *span = spans_at(&maps->spans, start);

	if (span != NULL && span->start <= start &&
	    !(span->flags & MAPS_SPAN_FILE) &&
	    maps->list[span->owner].origin == MAP_BEFORE)
		return span;
	return unowned_at(maps, start);
}

void maps_explain_create(struct maps *maps, const struct map_clue *clue)
{
	const struct span *span = unowned_at(maps, clue->address);

	if (span != NULL)
		maps_attribute(maps, start_with_guard(maps, span), span->end,
			       MAP_CREATE, clue->node, clue->stamp);
}

void maps_explain_late(struct maps *maps, uint64_t start, uint64_t size,
		       const struct map_clue *clue)
{
	const struct span *span;
	uint64_t end;

	if (size == 0 && maps->unattributed == 0)
		return;
	span = size > 0 ? ground_of(maps, start) : unowned_at(maps, start);
	if (span == NULL)
		return;
	if (size == 0) {
		start = span->start;
		end = end_with_rest(maps, span);
	} else {
		end = size < span->end - start ? start + size : span->end;
	}
	maps_attribute(maps, start, end, MAP_MALLOC, clue->node, clue->stamp);
}

/* The mapping of a block that is still live. */
static void explain_block(struct maps *maps, const struct map_clue *clue)
{
	uint64_t start = (clue->address - 16) & ~(MAPS_PAGE - 1);
	const struct span *span = ground_of(maps, start);

	if (span == NULL || blocks_find(maps->blocks, clue->address) == NULL)
		return;
	maps_attribute(maps, start, clue->size < span->end - start ?
		       start + clue->size : span->end, MAP_MALLOC, clue->node,
		       clue->stamp);
}

static void explain_shmat(struct maps *maps, const struct map_clue *clue)
{
	const struct span *span = spans_at(&maps->spans, clue->address);
	const struct mapping *mapping;

	if (span == NULL || span->start != clue->address)
		return;
	mapping = &maps->list[span->owner];
	if (mapping->look == 0 || mapping->origin != MAP_OTHER)
		return;
	maps_attribute(maps, span->start, span->end, MAP_PROGRAM, clue->node,
		       clue->stamp);
}

/* FNV-1a (Fowler, Noll, Vo), as preload/hooks/hooks_dlopen.c has it. */
static uint64_t name_hash(const char *path)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (const char *name = base_name(path);
	     *name != 0 && strncmp(name, ".so", 3) != 0; name++)
		hash = (hash ^ (uint8_t)*name) * UINT64_C(0x100000001b3);
	return hash;
}

/* The dlopen call for this file, or the first one that may have loaded it as a
 * dependency. */
static const struct map_clue *loader_of(const struct maps *maps,
					const struct mapping *mapping,
					const struct trace_maps *head)
{
	uint64_t hash = name_hash(mapping->path);
	const struct map_clue *found = NULL;

	for (size_t i = 0; i < maps->clue_count; i++) {
		const struct map_clue *clue = &maps->clues[i];

		if (clue->what != GT_EXTRA_DLOPEN ||
		    clue->stamp > head->ended)
			continue;
		if (clue->address == hash)
			return clue;
		if (found == NULL)
			found = clue;
	}
	return found;
}

static bool has_code(const struct maps *maps, uint32_t index)
{
	const struct mapping *mapping = &maps->list[index];
	uint64_t at = mapping->start, end = mapping->start + mapping->size;
	const struct span *span;

	while ((span = spans_at(&maps->spans, at)) != NULL &&
	       span->start < end) {
		DEBUG_ASSERT(at < span->end);
		if (span->owner == index && span->flags & GT_MAPS_EXECUTE)
			return true;
		at = span->end;
	}
	return false;
}

static void explain_file(struct maps *maps, uint32_t index,
			 const struct trace_maps *head)
{
	const struct mapping *mapping = &maps->list[index];
	const struct map_clue *clue;

	if (mapping->inode == 0 || mapping->path[0] != '/' ||
	    mapping->is & GT_MAPS_SHARED || !has_code(maps, index))
		return;
	clue = loader_of(maps, mapping, head);
	if (clue != NULL)
		maps_attribute(maps, mapping->start,
			       mapping->start + mapping->size, MAP_DLOPEN,
			       clue->node, clue->stamp);
}

/* The earliest of the blocks in [start, end) that came after `since`. */
static const struct map_page *first_block(const struct maps *maps,
					  uint64_t start, uint64_t end,
					  uint64_t since)
{
	const struct map_page *first = NULL;
	bool all = (end - start) / MAPS_PAGE > maps->page_count;
	size_t count = all ? maps->page_count : (end - start) / MAPS_PAGE;

	for (size_t i = 0; i < count; i++) {
		uint32_t k = all ? (uint32_t)i :
			table_get(&maps->by_page, start + i * MAPS_PAGE);
		const struct map_page *page = k == TABLE_NONE ? NULL :
			&maps->pages[k];

		DEBUG_ASSERT(k == TABLE_NONE || k < maps->page_count);
		if (page == NULL || page->page - start >= end - start ||
		    page->stamp == 0 || page->stamp + maps->window < since)
			continue;
		if (first == NULL || page->stamp < first->stamp)
			first = page;
	}
	return first;
}

/* Range by range, since maps_attribute removes some of them from the
 * mapping. */
static void explain_blocks(struct maps *maps, uint32_t index,
			   const struct trace_maps *head)
{
	uint64_t at = maps->list[index].start;
	uint64_t end = at + maps->list[index].size;
	const struct span *span;

	while ((span = spans_at(&maps->spans, at)) != NULL &&
	       span->start < end) {
		const struct map_page *page = NULL;
		uint64_t from = span->start, to = span->end;

		if (span->owner == index && is_unowned(maps, span) &&
		    is_accessible(span))
			page = first_block(maps, from, to, head->since);
		if (page != NULL) {
			to = end_with_rest(maps, span);
			maps_attribute(maps, from, to, MAP_MALLOC, page->node,
				       page->stamp);
		}
		DEBUG_ASSERT(at < to);
		at = to;
	}
}

void maps_explain(struct maps *maps, const struct trace_maps *head)
{
	if (maps->found_count == 0)
		return;
	for (size_t i = maps->clue_count; i > 0; i--) {
		const struct map_clue *clue = &maps->clues[i - 1];

		if (clue->what == GT_EXTRA_SHMAT)
			explain_shmat(maps, clue);
		else if (clue->what == 0)
			explain_block(maps, clue);
	}
	for (size_t i = 0; i < maps->clue_count; i++)
		if (maps->clues[i].what == GT_EXTRA_CREATE)
			maps_explain_create(maps, &maps->clues[i]);
	for (size_t i = 0; i < maps->found_count; i++) {
		DEBUG_ASSERT(maps->found[i] < maps->count);
		if (maps->list[maps->found[i]].origin != MAP_OTHER ||
		    maps->list[maps->found[i]].bytes == 0)
			continue;
		explain_file(maps, maps->found[i], head);
		explain_blocks(maps, maps->found[i], head);
	}
}
