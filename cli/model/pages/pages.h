/*
 * pages.h: on how many pages the live blocks lie, and whose blocks keep them.
 * A page that has a live block stays the process's, however little of it is in
 * use: an allocator can give back whole pages only. glibc's gives back less: what
 * lies above the highest block of a heap, and other free pages only where the
 * program calls malloc_trim.
 *
 * Two figures of a group of blocks say what it keeps:
 *
 *	shared	each page is divided among the groups that have blocks on it,
 *		in proportion to their bytes there. Over all groups this adds up
 *		to all pages with live blocks.
 *	alone	the pages on which no other group has a block: what would be
 *		free if the group's blocks were gone. Does not add up.
 *
 * Both are of pages that *may* be resident. Which of them are is not known. A
 * snapshot says how much of each mapping is: no more can be resident of the
 * pages with live blocks, and no less than what has no room elsewhere in the
 * mapping. Where a mapping is resident wholly, or not at all, that is exact.
 *
 * All of it is of the blocks that are counted. If a filter leaves blocks out,
 * pages are told as if these were not there.
 *
 * Made by the thread that has the model; any may ask afterwards.
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

/* Pages by how full they are: up to so many hundredths, and more than the class
 * before. */
extern const unsigned pages_use_percent[PAGES_USES];

/* Adjacent pages that are the same. */
struct page_run {
	uint64_t address;	/* of the first */
	uint64_t pages;
	uint64_t live_bytes;	/* on each of them, 1 … the page's size */
	uint32_t blocks, groups;	/* on each */
	uint32_t mapping;	/* index of pages.mappings */
	uint32_t heap;		/* index of pages.heaps */
};

struct pages_sum {
	uint64_t pages;
	uint64_t live_bytes;
};

/* What is resident of some pages: both are the same where it is known. */
struct pages_resident {
	uint64_t min_bytes, max_bytes;
};

struct pages_group {
	uint64_t blocks;
	uint64_t live_bytes;
	uint64_t pages;		/* on which it has a block */
	uint64_t shared_bytes, alone_bytes;
	uint64_t resident_bytes;	/* of `shared_bytes`, at most */
};

/* Pages by the path of the mapping in which their first block lay when it was
 * allocated. */
struct pages_mapping {
	const char *path;	/* "" memory of no file; NULL: not known */
	struct pages_sum sum;
};

/*
 * A part of the allocator's memory that shrinks by itself: the main arena, or
 * one of the pieces of 64 MiB that further arenas of glibc consist of. All
 * blocks in mappings of their own are one more, and so are those of which
 * nothing is known; these have no top.
 */
struct pages_heap {
	unsigned part;		/* enum heap_part */
	bool has_top;
	struct pages_sum sum;
	uint64_t begin, end;	/* from the first live byte to behind the last */
	/* The block that is highest, which keeps all below it from being given
	 * back at the end; and what lies between it and the one below, its own
	 * bytes included: what could go if it alone went. */
	const struct block *top;
	uint64_t top_bytes;
};

struct pages {
	uint64_t page_size;
	struct pages_sum sum;
	uint64_t blocks;
	uint64_t single;	/* pages with a part of one block, no more */
	struct pages_sum use[PAGES_USES];
	struct pages_resident resident;	/* if `snapshot` */
	const struct footprint_snapshot *snapshot;	/* NULL: none */
	uint64_t snapshot_ns, moment_ns;	/* since the start */
	struct pages_group *groups;
	size_t group_count;
	struct page_run *runs;		/* if they were wanted, by address */
	size_t run_count, run_capacity;
	struct pages_mapping *mappings;	/* each path once; the last: not known */
	size_t mapping_count;
	struct pages_heap *heaps;
	size_t heap_count, heap_capacity;	/* by their first blocks */
	uint64_t cut;		/* blocks of which only the first pages are in
				 * it: they lay over others, many at a place */
};

struct pages_options {
	/* By cost, a group or PAGES_NO_GROUP; NULL: the groups are contexts,
	 * the nodes that allocated. Borrowed. */
	const uint32_t *group_of_cost;
	size_t group_count;
	/* To know paths; NULL: none is known. Borrowed as long as the answer,
	 * which has its names. */
	const struct map_index *maps;
	uint64_t moment_ns;	/* of the live blocks: for the nearest snapshot */
	bool runs;		/* page by page */
};

/* Of the live blocks of a model that was read, and is no sample. To be
 * released; valid as long as the model. */
struct pages *pages_new(const struct model *model,
			const struct pages_options *options);
void pages_free(struct pages *pages);	/* NULL is allowed */

/* Sums agree: classes, mappings, heaps and shares add up to the whole. With
 * GNOMON_CLAIMS. */
bool pages_are_valid(const struct pages *pages);

#endif
