/*
 * pages_sweep.h: visits live blocks page by page, in the order of addresses.
 *
 *	pages    |       0       |       1       |  2 … 4  |    5     |
 *	blocks     [a] [b]  [b]     [c  . . . . . . . . . . . . . ] [a]
 *	covers   a, b, 1 page    c, 1 page       c, 3       a, c, 1
 *
 * A *cover* is a page, or adjacent pages with the same contents, with the
 * blocks on it. Blocks have *groups*, defined by the caller; all blocks of a
 * group on a page are reported together.
 *
 * A block occupies its requested bytes, at least one. The allocator's header
 * does not count.
 *
 * Called by the model's thread.
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
	uint64_t bytes;		/* of the group's blocks, on each page */
};

struct page_cover {
	uint64_t address;	/* of the first page */
	uint64_t pages;		/* at least one */
	/* On each of the pages: */
	uint64_t live_bytes;	/* occupied by any block; 1 … page size */
	uint64_t blocks;
	const struct page_member *members;	/* in the order of their first
						 * blocks */
	size_t member_count;
	const struct block *first;	/* the first block on it */
};

struct pages_sweep {
	uint64_t page_size;	/* a power of two */
	/* By cost of the model, the block's group, or PAGES_NO_GROUP to leave
	 * the block out. NULL: all blocks are in group 0. Borrowed. */
	const uint32_t *group_of_cost;
	size_t group_count;
	void *owner;
	/* Called for each block before the first cover with it, by address. May
	 * be NULL. */
	void (*block)(void *owner, const struct block *block);
	void (*cover)(void *owner, const struct page_cover *cover);
};

/*
 * Calls `cover` for all covers of the model's live blocks. Takes 16 bytes per
 * block and 4 per group. Returns the number of blocks of which only the first
 * pages were reported: too many blocks overlapped there.
 */
uint64_t pages_sweep(const struct pages_sweep *sweep,
		     const struct model *model);
/* The address after its last byte; for a block of a forged trace, limited to
 * the address space. */
uint64_t pages_sweep_end(const struct block *block);

#endif
