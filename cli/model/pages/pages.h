/*
 * pages.h: the pages that live blocks keep, and which groups of blocks keep
 * them (fragmentation). A page with a live block stays the process's, however
 * little of it is in use: an allocator can give back whole pages only. glibc
 * gives back less: memory above the highest block of a heap, and other free
 * pages only if the program calls malloc_trim.
 *
 * Two measures of a group of blocks say how much it keeps:
 *
 *	shared	each page is divided among the groups that have blocks on it,
 *		in proportion to their bytes there. Over all groups this adds up
 *		to all pages with live blocks.
 *	alone	the pages on which no other group has a block: they would be
 *		free if the group's blocks were freed. Does not add up.
 *
 * Both count pages that *may* be resident. Which pages are resident is not
 * known; a snapshot has only the resident size of each mapping. That gives an
 * upper bound for the pages with live blocks, and a lower bound: the resident
 * bytes for which the rest of the mapping has no room. For mappings that are
 * resident wholly, or not at all, both bounds are exact.
 *
 * Only selected blocks count. If a filter leaves blocks out, pages are computed
 * as if these did not exist.
 *
 * Made by the model's thread; any thread may read the result.
 */
#ifndef GNOMON_PAGES_H
#define GNOMON_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/model/pages/pages_sweep.h"

struct footprint_snapshot;
struct map_index;

#define PAGES_USES 6

/* Classes of pages by use: at most this many percent, and more than the class
 * before. */
extern const unsigned pages_use_percent[PAGES_USES];

/* Adjacent pages with the same contents. */
struct page_run {
	uint64_t address;	/* of the first page */
	uint64_t pages;
	uint64_t live_bytes;	/* on each page, 1 … page size */
	uint32_t blocks, groups;	/* on each page */
	uint32_t mapping;	/* index of pages.mappings */
	uint32_t heap;		/* index of pages.heaps */
};

struct pages_sum {
	uint64_t pages;
	uint64_t live_bytes;
};

/* Resident bytes of some pages; both are equal if the value is exact. */
struct pages_resident {
	uint64_t min_bytes, max_bytes;
};

struct pages_group {
	uint64_t blocks;
	uint64_t live_bytes;
	uint64_t pages;		/* with a block of the group */
	uint64_t shared_bytes, alone_bytes;
	uint64_t resident_bytes;	/* of `shared_bytes`, at most */
};

/* Pages by the path of the mapping that held their first block when it was
 * allocated. */
struct pages_mapping {
	const char *path;	/* "": memory of no file; NULL: not known */
	struct pages_sum sum;
};

/*
 * A part of the allocator's memory that shrinks by itself: the main arena, or
 * one of the 64 MiB heaps of which glibc's other arenas consist. All blocks in
 * mappings of their own form one more part, and so do all blocks of unknown
 * kind; these two have no top.
 */
struct pages_heap {
	unsigned part;		/* enum heap_part */
	bool has_top;
	struct pages_sum sum;
	uint64_t begin, end;	/* from the first live byte to the end of the
				 * last */
	/* The highest block, which keeps all memory below it from being given
	 * back at the end of the heap. `top_bytes`: its bytes and the gap down
	 * to the next block, which could be given back if only this block were
	 * freed. */
	const struct block *top;
	uint64_t top_bytes;
};

struct pages {
	uint64_t page_size;
	struct pages_sum sum;
	uint64_t blocks;
	uint64_t single;	/* pages with a part of only one block */
	struct pages_sum use[PAGES_USES];
	struct pages_resident resident;	/* if `snapshot` */
	const struct footprint_snapshot *snapshot;	/* NULL: none */
	uint64_t snapshot_ns, moment_ns;	/* since the start */
	struct pages_group *groups;
	size_t group_count;
	struct page_run *runs;		/* if requested, by address */
	size_t run_count, run_capacity;
	struct pages_mapping *mappings;	/* each path once; the last: not
					 * known */
	size_t mapping_count;
	struct pages_heap *heaps;
	size_t heap_count, heap_capacity;	/* by first block */
	uint64_t cut;		/* blocks of which only the first pages count:
				 * too many blocks overlap in one place */
};

struct pages_options {
	/* By cost, a group or PAGES_NO_GROUP; NULL: the groups are contexts
	 * (nodes that allocated). Borrowed. */
	const uint32_t *group_of_cost;
	size_t group_count;
	/* For paths; NULL: all are unknown. Borrowed as long as the result,
	 * which has its names. */
	const struct map_index *maps;
	uint64_t moment_ns;	/* of the live blocks: selects the nearest
				 * snapshot */
	bool runs;		/* make `runs` */
};

/* For the live blocks of a model that was read and is not sampled. To be
 * released; valid as long as the model. */
struct pages *pages_new(const struct model *model,
			const struct pages_options *options);
void pages_free(struct pages *pages);	/* NULL is allowed */

/* Sums agree: classes, mappings, heaps and shares add up to the totals. With
 * GNOMON_DEBUG_ASSERTS. */
bool pages_are_valid(const struct pages *pages);

#endif
