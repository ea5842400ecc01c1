/* heap.h: in which parts of the C library's heap the live blocks are. */
#ifndef GNOMON_HEAP_H
#define GNOMON_HEAP_H

#include <stdbool.h>
#include <stdint.h>

struct block;
struct model;

enum heap_part {
	HEAP_MAIN,		/* the main arena, grown by brk */
	HEAP_OTHER,		/* the arenas of other threads */
	HEAP_MMAPPED,		/* mappings of their own */
	HEAP_UNKNOWN,		/* of another allocator, or without a known
				 * header */
	HEAP_PARTS
};

struct heap_share {
	uint64_t blocks;
	uint64_t bytes;		/* requested */
	uint64_t usable;	/* malloc_usable_size; 0 if unknown */
};

extern const char *const heap_part_names[HEAP_PARTS];

/* The part for a block with this layout (enum gt_layout). */
enum heap_part heap_part(unsigned layout);
/* Bytes that the C library needs for a block beyond those requested: header and
 * rounding; 0: unknown. */
uint64_t heap_extra(const struct block *block);
/* Sums over the live blocks. `kept`: by cost, whether to include its blocks;
 * NULL: all. */
void heap_shares(const struct model *model, const bool *kept,
		 struct heap_share shares[HEAP_PARTS]);

#endif
