/*
 * heap.h: how the live blocks lie in the C library's heap.
 */
#ifndef GNOMON_HEAP_H
#define GNOMON_HEAP_H

#include <stdbool.h>
#include <stdint.h>

struct block;
struct model;

enum heap_part {
	HEAP_MAIN,		/* the main arena, grown by brk */
	HEAP_OTHER,		/* the arenas of further threads */
	HEAP_MMAPPED,		/* mappings of their own */
	HEAP_UNKNOWN,		/* another allocator's, or no header known */
	HEAP_PARTS
};

struct heap_share {
	uint64_t blocks;
	uint64_t bytes;		/* asked for */
	uint64_t usable;	/* that the allocator gave; 0 if unknown */
};

extern const char *const heap_part_names[HEAP_PARTS];

/* Of a block with this layout (enum gt_layout). */
enum heap_part heap_part(unsigned layout);
/* What the C library needed for a block beyond the bytes asked for: its header
 * and what is rounded up; 0: unknown. */
uint64_t heap_extra(const struct block *block);
/* Sums over the blocks that are live; `kept`: of which costs, NULL: all. */
void heap_shares(const struct model *model, const bool *kept,
		 struct heap_share shares[HEAP_PARTS]);

#endif
