/*
 * pages.c: see pages.h. Covers come in the order of addresses and are summed up
 * one by one. So the mappings of a snapshot, and heaps, are also visited one
 * after the other.
 *
 *  I1  Shares of a page add up to its size: with the groups in order, a group's
 *      share is the difference between the cumulative parts with it and without
 *      it, both rounded down.
 */
#include "cli/model/pages/pages.h"

#include <stdlib.h>

#include "cli/base/grow.h"
#include "cli/model/core/blocks.h"
#include "cli/model/core/contexts.h"
#include "cli/model/core/pools.h"
#include "cli/model/heap.h"
#include "cli/model/map_index.h"
#include "cli/model/model.h"
#include "cli/model/stats/footprint.h"
#include "unwind/base/assertion.h"

/* Heaps of glibc's other arenas are aligned to their size. */
#define ARENA_HEAP (UINT64_C(64) << 20)

const unsigned pages_use_percent[PAGES_USES] = { 1, 5, 10, 25, 50, 100 };

struct counting {
	struct pages *pages;
	const struct pages_options *options;
	/* Heaps being filled: by part, index + 1; 0: none yet. */
	size_t heap_of[HEAP_PARTS];
	const uint32_t *group_of_cost;
	uint32_t *node_of_cost;		/* the same, if groups are contexts */
	/* The current mapping of the snapshot. */
	const struct footprint_mapping *mappings;
	size_t mapping_count, mapping;
	uint64_t in_mapping;		/* bytes of pages with blocks */
	uint64_t *shared;		/* by group, in this mapping */
	uint32_t *touched;		/* groups with pages in it */
	size_t touched_count, touched_capacity;
};

/* ---- resident bytes ---- */

static uint64_t min(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Bounds for this many bytes of pages in a mapping. */
static struct pages_resident bounds(const struct footprint_mapping *mapping,
				    uint64_t bytes)
{
	uint64_t rss = footprint_resident(mapping);
	uint64_t elsewhere = mapping->size > bytes ? mapping->size - bytes : 0;

	return (struct pages_resident){
		.min_bytes = min(bytes, rss > elsewhere ? rss - elsewhere : 0),
		.max_bytes = min(bytes, rss),
	};
}

static void close_mapping(struct counting *c)
{
	const struct footprint_mapping *mapping = &c->mappings[c->mapping];
	struct pages_resident all = bounds(mapping, c->in_mapping);

	c->pages->resident.min_bytes += all.min_bytes;
	c->pages->resident.max_bytes += all.max_bytes;
	for (size_t i = 0; i < c->touched_count; i++) {
		uint32_t group = c->touched[i];

		c->pages->groups[group].resident_bytes +=
			bounds(mapping, c->shared[group]).max_bytes;
		c->shared[group] = 0;
	}
	c->touched_count = 0;
	c->in_mapping = 0;
	c->mapping++;
}

static uint64_t end_of(const struct footprint_mapping *mapping)
{
	return mapping->start + mapping->size;
}

static void add_resident(struct counting *c, const struct page_member *member,
			 uint64_t share)
{
	if (share == 0)
		return;
	if (c->shared[member->group] == 0) {
		GROW(c->touched, c->touched_count, c->touched_capacity);
		c->touched[c->touched_count++] = member->group;
	}
	c->shared[member->group] += share;
}

/* ---- shares ---- */

/* Calls `add` with each member's share of a page (I1), times `pages` of a
 * cover. */
static void each_share(struct counting *c, const struct page_cover *cover,
		       uint64_t pages,
		       void (*add)(struct counting *c,
				   const struct page_member *member,
				   uint64_t share))
{
	uint64_t page_size = c->pages->page_size, sum = 0, so_far = 0;
	uint64_t before = 0;

	for (size_t i = 0; i < cover->member_count; i++)
		sum += cover->members[i].bytes;
	for (size_t i = 0; i < cover->member_count; i++) {
		uint64_t part;

		so_far += cover->members[i].bytes;
		part = (uint64_t)((unsigned __int128)page_size * so_far / sum);
		add(c, &cover->members[i], (part - before) * pages);
		before = part;
	}
	DEBUG_ASSERT(before == page_size);	/* I1 */
}

/* Finds which parts of a cover are in mappings of the snapshot. */
static void find_resident(struct counting *c, const struct page_cover *cover)
{
	uint64_t page_size = c->pages->page_size;
	uint64_t at = cover->address;
	uint64_t end = at + cover->pages * page_size;

	while (at < end && c->mapping < c->mapping_count) {
		const struct footprint_mapping *mapping =
			&c->mappings[c->mapping];
		uint64_t from = at < mapping->start ? mapping->start : at;
		uint64_t to = min(end, end_of(mapping));

		if (from < to) {
			c->in_mapping += to - from;
			each_share(c, cover, (to - from) / page_size,
				   add_resident);
			at = to;
		}
		if (end_of(mapping) > end)
			break;
		close_mapping(c);
	}
}

static void add_shared(struct counting *c, const struct page_member *member,
		       uint64_t share)
{
	c->pages->groups[member->group].shared_bytes += share;
}

static void add_members(struct counting *c, const struct page_cover *cover)
{
	struct pages *pages = c->pages;

	each_share(c, cover, cover->pages, add_shared);
	for (size_t i = 0; i < cover->member_count; i++) {
		struct pages_group *group =
			&pages->groups[cover->members[i].group];

		group->pages += cover->pages;
		if (cover->member_count == 1)
			group->alone_bytes += cover->pages * pages->page_size;
	}
}

/* ---- mappings and heaps ---- */

static void add_sum(struct pages_sum *sum, const struct page_cover *cover)
{
	sum->pages += cover->pages;
	sum->live_bytes += cover->pages * cover->live_bytes;
}

static uint32_t mapping_of(const struct counting *c,
			   const struct page_cover *cover)
{
	uint32_t path = c->options->maps == NULL ? MAP_INDEX_NONE :
		map_index_path(c->options->maps,
			       pools_address(cover->first->address),
			       cover->first->alloc);

	return path == MAP_INDEX_NONE ?
		(uint32_t)c->pages->mapping_count - 1 : path;
}

static size_t new_heap(struct pages *pages, unsigned part, uint64_t begin)
{
	GROW(pages->heaps, pages->heap_count, pages->heap_capacity);
	pages->heaps[pages->heap_count] = (struct pages_heap){
		.part = part, .begin = begin, .end = begin,
		.has_top = part == HEAP_MAIN || part == HEAP_OTHER,
	};
	return pages->heap_count++;
}

/* The heap of a block. The heaps of another arena come one after the other. */
static struct pages_heap *heap_at(struct counting *c, const struct block *block)
{
	uint64_t address = pools_address(block->address);
	unsigned part = heap_part(block->layout);
	size_t *number = &c->heap_of[part];

	if (*number == 0 ||
	    (part == HEAP_OTHER && c->pages->heaps[*number - 1].begin /
	     ARENA_HEAP < address / ARENA_HEAP))
		*number = new_heap(c->pages, part, address) + 1;
	return &c->pages->heaps[*number - 1];
}

static void take_block(void *owner, const struct block *block)
{
	struct counting *c = owner;
	struct pages_group *group =
		&c->pages->groups[c->group_of_cost[block->cost]];
	struct pages_heap *heap = heap_at(c, block);
	uint64_t end = pages_sweep_end(block);

	c->pages->blocks++;
	group->blocks++;
	group->live_bytes += block->size;
	if (end <= heap->end)
		return;
	heap->top = block;
	heap->top_bytes = end - heap->end;
	heap->end = end;
}

/* ---- covers ---- */

static void add_use(struct pages *pages, const struct page_cover *cover)
{
	unsigned i = 0;

	while (i + 1 < PAGES_USES && cover->live_bytes * 100 >
	       pages->page_size * pages_use_percent[i])
		i++;
	add_sum(&pages->use[i], cover);
}

static uint32_t at_most(uint64_t count)
{
	return count < UINT32_MAX ? (uint32_t)count : UINT32_MAX;
}

static void take_cover(void *owner, const struct page_cover *cover)
{
	struct counting *c = owner;
	struct pages *pages = c->pages;
	struct pages_heap *heap = heap_at(c, cover->first);
	uint32_t mapping = mapping_of(c, cover);

	add_sum(&pages->sum, cover);
	add_sum(&heap->sum, cover);
	add_sum(&pages->mappings[mapping].sum, cover);
	add_use(pages, cover);
	pages->single += cover->blocks == 1 ? cover->pages : 0;
	add_members(c, cover);
	find_resident(c, cover);
	if (!c->options->runs)
		return;
	GROW(pages->runs, pages->run_count, pages->run_capacity);
	pages->runs[pages->run_count++] = (struct page_run){
		.address = cover->address, .pages = cover->pages,
		.live_bytes = cover->live_bytes,
		.blocks = at_most(cover->blocks),
		.groups = at_most(cover->member_count),
		.mapping = mapping, .heap = (uint32_t)(heap - pages->heaps),
	};
}

/* ---- the result ---- */

/* Selects the snapshot nearest to the moment. */
static void choose_snapshot(struct counting *c, const struct model *model,
			    uint64_t moment_ns)
{
	const struct footprint *footprint = model_footprint(model);
	struct pages *pages = c->pages;
	uint64_t min_distance = UINT64_MAX;

	for (size_t i = 0; i < footprint->snapshot_count; i++) {
		const struct footprint_snapshot *snapshot =
			&footprint->snapshots[i];
		uint64_t ns = model_since_start_ns(model, snapshot->said.begin);
		uint64_t distance = ns > moment_ns ? ns - moment_ns :
			moment_ns - ns;

		if (distance > min_distance ||
		    !footprint_is_whole(footprint, snapshot))
			continue;
		min_distance = distance;
		pages->snapshot = snapshot;
		pages->snapshot_ns = ns;
	}
	if (pages->snapshot == NULL)
		return;
	c->mappings = footprint->mappings + pages->snapshot->first;
	c->mapping_count = pages->snapshot->count;
}

/* If the caller has no groups: a group for each node. */
static void make_groups(struct counting *c, const struct model *model)
{
	const struct contexts *contexts = model_contexts(model);
	const struct pages_options *options = c->options;
	uint32_t *nodes;

	c->group_of_cost = options->group_of_cost;
	c->pages->group_count = options->group_count;
	if (options->group_of_cost == NULL) {
		nodes = grow_alloc(contexts->cost_count * sizeof(*nodes));
		for (size_t i = 0; i < contexts->cost_count; i++)
			nodes[i] = contexts->costs[i].node;
		c->group_of_cost = c->node_of_cost = nodes;
		c->pages->group_count = contexts->node_count;
	}
	c->pages->groups = grow_zeroed(c->pages->group_count + 1,
				       sizeof(*c->pages->groups));
	c->shared = grow_zeroed(c->pages->group_count + 1,
				sizeof(*c->shared));
}

static void make_mappings(struct pages *pages, const struct map_index *maps)
{
	size_t paths = maps != NULL ? map_index_paths(maps) : 0;

	pages->mapping_count = paths + 1;
	pages->mappings = grow_zeroed(paths + 1, sizeof(*pages->mappings));
	for (size_t i = 0; i < paths; i++)
		pages->mappings[i].path = map_index_name(maps, (uint32_t)i);
}

#ifdef GNOMON_DEBUG_ASSERTS
bool pages_are_valid(const struct pages *pages)
{
	struct pages_sum uses = { 0 }, mappings = { 0 }, heaps = { 0 };
	uint64_t shared = 0;

	for (unsigned i = 0; i < PAGES_USES; i++) {
		uses.pages += pages->use[i].pages;
		uses.live_bytes += pages->use[i].live_bytes;
	}
	for (size_t i = 0; i < pages->mapping_count; i++)
		mappings.pages += pages->mappings[i].sum.pages;
	for (size_t i = 0; i < pages->heap_count; i++)
		heaps.pages += pages->heaps[i].sum.pages;
	for (size_t i = 0; i < pages->group_count; i++)
		shared += pages->groups[i].shared_bytes;
	return uses.pages == pages->sum.pages &&
	       uses.live_bytes == pages->sum.live_bytes &&
	       mappings.pages == pages->sum.pages &&
	       heaps.pages == pages->sum.pages &&
	       shared == pages->sum.pages * pages->page_size &&
	       pages->resident.min_bytes <= pages->resident.max_bytes;
}
#endif

struct pages *pages_new(const struct model *model,
			const struct pages_options *options)
{
	struct pages *pages = grow_zeroed(1, sizeof(*pages));
	struct counting c = { .pages = pages, .options = options };
	struct pages_sweep sweep = {
		.page_size = model_page_size(model),
		.owner = &c, .block = take_block, .cover = take_cover,
	};

	pages->page_size = sweep.page_size;
	pages->moment_ns = options->moment_ns;
	make_groups(&c, model);
	make_mappings(pages, options->maps);
	choose_snapshot(&c, model, options->moment_ns);
	sweep.group_of_cost = c.group_of_cost;
	sweep.group_count = pages->group_count;
	pages->cut = pages_sweep(&sweep, model);
	while (c.mapping < c.mapping_count)
		close_mapping(&c);
	DEBUG_ASSERT(pages_are_valid(pages));
	free(c.node_of_cost);
	free(c.shared);
	free(c.touched);
	return pages;
}

void pages_free(struct pages *pages)
{
	if (pages == NULL)
		return;
	free(pages->groups);
	free(pages->runs);
	free(pages->mappings);
	free(pages->heaps);
	free(pages);
}
