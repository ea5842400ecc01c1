/*
 * pages_sweep.h: live blocks page by page, in the order of addresses.
 *
 *	pages    |       0       |       1       |  2 … 4  |    5     |
 *	blocks     [a] [b]  [b]     [c  . . . . . . . . . . . . . ] [a]
 *	covers   a, b, 1 page    c, 1 page       c, 3       a, c, 1
 *
 * A *cover* is a page, or adjacent pages that are the same, with the blocks
 * that lie on it. Blocks have *groups*, which who asks makes: those of one
 * group are told together.
 *
 * A block lies where its bytes are that were asked for, one at least. The
 * allocator's own words beside it are not counted.
 *
 * Called by the thread that has the model.
 */
#ifndef GNOMON_PAGES_SWEEP_H
#define GNOMON_PAGES_SWEEP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct block;
struct model;

#define PAGES_NO_GROUP UINT32_MAX

struct page_member {
	uint32_t group;
	uint64_t bytes;		/* of its blocks, on each of the pages */
};

struct page_cover {
	uint64_t address;	/* of the first page */
	uint64_t pages;		/* one at least */
	/* On each of the pages: */
	uint64_t live_bytes;	/* that any block has; 1 … the page's size */
	uint64_t blocks;
	const struct page_member *members;	/* by the first block of each */
	size_t member_count;
	const struct block *first;	/* of those on it */
};

struct pages_sweep {
	uint64_t page_size;	/* a power of two */
	/* By cost of the model, the block's group or PAGES_NO_GROUP: then the
	 * block is left out. NULL: all blocks are of group 0. Borrowed. */
	const uint32_t *group_of_cost;
	size_t group_count;
	void *owner;
	/* A block, before the first cover that has it; by address. May be
	 * NULL. */
	void (*block)(void *owner, const struct block *block);
	void (*cover)(void *owner, const struct page_cover *cover);
};

/*
 * Tells all covers of the model's live blocks. Takes 16 bytes for each of the
 * blocks, and 4 for each group. Returns for how many blocks only the first
 * pages were told: of those that lie over others, too many at one place.
 */
uint64_t pages_sweep(const struct pages_sweep *sweep,
		     const struct model *model);
/* Behind its last byte; of a block of a made-up trace, no further than there
 * are addresses. */
uint64_t pages_sweep_end(const struct block *block);

#endif
