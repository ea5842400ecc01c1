/*
 * blocks.h: the blocks that are live, by address. The one structure that every
 * event touches, so an entry is half a cache line and a search is one probe,
 * mostly into a line that was fetched ahead.
 */
#ifndef GNOMON_BLOCKS_H
#define GNOMON_BLOCKS_H

#include <stddef.h>
#include <stdint.h>

#define BLOCK_SEQUENCE ((UINT64_C(1) << 48) - 1)
#define BLOCK_LAYOUT ((1u << 15) - 1)

struct block {
	uint64_t address;	/* 0: free entry */
	uint64_t size;
	uint64_t sequence : 48;	/* its number among its thread's allocations */
	uint64_t layout : 15;	/* enum gt_layout */
	uint64_t moving : 1;	/* a realloc of it has begun and its result is
				 * not known yet */
	uint32_t cost;		/* of its context */
	uint32_t thread;	/* that allocated it */
};

_Static_assert(sizeof(struct block) == 32, "two entries in a cache line");

struct blocks {
	struct block *table;
	unsigned shift;		/* 64 - log2(entries) */
	uint64_t mask;
	uint64_t count;
};

void blocks_init(struct blocks *blocks);
/* The entry with this address, or NULL. */
struct block *blocks_find(const struct blocks *blocks, uint64_t address);
/*
 * The entry with this address, which may be new: then everything but the
 * address is still to be filled in, and *is_new is set. Entries move when
 * others are added or removed.
 */
struct block *blocks_add(struct blocks *blocks, uint64_t address,
			 int *is_new);
void blocks_remove(struct blocks *blocks, struct block *block);
void blocks_free(struct blocks *blocks);

/* Fibonacci hashing (Knuth, TAOCP 6.4): addresses are regular, and the
 * product's upper bits spread arithmetic progressions evenly. */
static inline uint64_t blocks_home(const struct blocks *blocks,
				   uint64_t address)
{
	return (address >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> blocks->shift;
}

static inline void blocks_prefetch(const struct blocks *blocks,
				   uint64_t address)
{
	__builtin_prefetch(&blocks->table[blocks_home(blocks, address)], 1);
}

#endif
