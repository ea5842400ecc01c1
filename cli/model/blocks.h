/*
 * blocks.h: the blocks that are live, by address. Every event touches them.
 *
 *	slots            address's hash | number of the block
 *	  └──▶ list      the blocks, side by side
 *
 * A slot is 8 bytes and has 32 bits of the hash, so that a search nearly
 * always looks at one block only; a block has all the room it needs without
 * an empty place beside it; and what is freed soon after its allocation stays
 * in the cache, since its place is the next to be used. A block keeps its
 * number as long as it lives.
 */
#ifndef GNOMON_BLOCKS_H
#define GNOMON_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BLOCK_SEQUENCE ((UINT64_C(1) << 46) - 1)
#define BLOCK_LAYOUT ((1u << 15) - 1)

struct block {
	uint64_t address;	/* 0: no block */
	uint64_t size;
	uint64_t birth;		/* stamp */
	uint64_t sequence : 46;	/* its number among its thread's allocations */
	uint64_t layout : 15;	/* enum gt_layout */
	uint64_t moving : 1;	/* a realloc of it has begun and its result is
				 * not known yet */
	uint64_t left_out : 1;	/* by the model's filter: has no cost */
	uint64_t unused : 1;
	uint32_t cost;		/* of its context */
	uint32_t thread;	/* that allocated it */
};

_Static_assert(sizeof(struct block) == 40, "there are millions");

struct blocks {
	struct block *list;	/* by number; 0 is no block */
	size_t used;		/* numbers that were ever in use, and 0 */
	size_t capacity;
	uint32_t free;		/* first free number; 0: none. The next one is
				 * in its `cost` */
	uint64_t *slots;	/* upper half: of the hash; lower: number; 0:
				 * free */
	unsigned shift;		/* 32 - log2(slots) */
	uint64_t mask;
	uint64_t count;
};

void blocks_init(struct blocks *blocks);
/* The block at this address, or NULL. */
struct block *blocks_find(const struct blocks *blocks, uint64_t address);
/*
 * The block at this address, which may be new: then everything but the
 * address is still to be filled in, and *is_new is set. Blocks may move, but
 * not be numbered anew, when others are added.
 */
struct block *blocks_add(struct blocks *blocks, uint64_t address,
			 int *is_new);
void blocks_remove(struct blocks *blocks, struct block *block);
void blocks_free(struct blocks *blocks);

/* One block after the other: *number is 0 at first. NULL: no more. */
static inline struct block *blocks_next(const struct blocks *blocks,
					uint32_t *number)
{
	while (++*number < blocks->used)
		if (blocks->list[*number].address != 0)
			return &blocks->list[*number];
	return NULL;
}

static inline uint32_t blocks_number(const struct blocks *blocks,
				     const struct block *block)
{
	return (uint32_t)(block - blocks->list);
}

/* Fibonacci hashing (Knuth, TAOCP 6.4): addresses are regular, and the
 * product's upper bits spread arithmetic progressions evenly. */
static inline uint32_t blocks_hash(uint64_t address)
{
	return (uint32_t)((address >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 32);
}

/* To be called some events ahead, each a few events after the one before. */
static inline void blocks_prefetch(const struct blocks *blocks,
				   uint64_t address)
{
	__builtin_prefetch(&blocks->slots[blocks_hash(address) >>
					  blocks->shift], 1);
}

static inline void blocks_prefetch_block(const struct blocks *blocks,
					 uint64_t address)
{
	uint64_t slot = blocks->slots[blocks_hash(address) >> blocks->shift];
	const char *block = (const char *)&blocks->list[(uint32_t)slot];

	__builtin_prefetch(block, 1);
	__builtin_prefetch(block + sizeof(struct block) - 1, 1);
}

/* The number of its cost, as far as that can be told at a glance. */
static inline uint32_t blocks_glance(const struct blocks *blocks,
				     uint64_t address)
{
	uint64_t slot = blocks->slots[blocks_hash(address) >> blocks->shift];

	return blocks->list[(uint32_t)slot].cost;
}

#endif
