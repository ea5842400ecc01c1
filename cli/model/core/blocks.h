/*
 * blocks.h: the live blocks, in a hash table by address. Every event uses it.
 *
 *	buckets        8 each of: a tag from the address's hash, number
 *	  └──▶ list      the blocks, by number
 *
 * A bucket is one cache line. All its tags are compared at once, so a search
 * has no branch that depends on the slot of a block, and nearly always reads
 * one block only. Blocks are in a list of their own, without empty slots.
 * Memory of a block that is freed soon after its allocation stays in the cache,
 * since its number is the next to be used. A block keeps its number while it
 * lives. Tables of cli/base have none of these properties, and cannot remove
 * entries.
 *
 * GROWTH. No single insertion moves all blocks: when a table is full, a table
 * of twice as many buckets is made, and each block that is added moves
 * BLOCKS_STEP buckets to it, in order. Until all are moved, the hash of a block
 * says which of the two tables has its home bucket:
 *
 *	old   [ moved: empty ......... | not yet moved           ]
 *	now   [ twice as many, in use ................. | not cleared yet ... ]
 */
#ifndef GNOMON_BLOCKS_H
#define GNOMON_BLOCKS_H

#include <assert.h>
#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "cli/base/grow.h"
#include "cli/base/hash.h"
#include "unwind/base/assertion.h"

#define BLOCK_SEQUENCE ((UINT64_C(1) << 44) - 1)
#define BLOCK_LAYOUT ((1u << 15) - 1)

struct block {
	uint64_t address;	/* 0: no block */
	uint64_t size;
	uint64_t alloc;		/* allocation time (stamp) */
	uint64_t sequence : 44;	/* number among its thread's allocations */
	uint64_t layout : 15;	/* enum gt_layout */
	uint64_t pending : 1;	/* pending realloc: it has begun, and its result
				 * is not known yet */
	uint64_t odd : 1;	/* its events came out of order, or some are
				 * missing */
	uint64_t left_out : 1;	/* by the model's filter: has no cost */
	uint64_t temporary : 1;	/* set when it ends, for block_observer.h */
	uint64_t pooled : 1;	/* in a heap of the program's own */
	uint32_t cost;		/* index of its context's measures */
	uint32_t thread;	/* that allocated it */
};

_Static_assert(sizeof(struct block) == 40, "there are millions");

#define BLOCKS_BUCKET 8
#define BLOCKS_STEP 2		/* buckets that are moved per new block */

typedef uint16_t blocks_tags
	__attribute__((vector_size(BLOCKS_BUCKET * sizeof(uint16_t))));
typedef uint8_t blocks_bytes __attribute__((vector_size(BLOCKS_BUCKET)));

struct blocks_bucket {
	blocks_tags tags;	/* from hashes; 0: free */
	uint32_t numbers[BLOCKS_BUCKET];
	uint8_t halves[BLOCKS_BUCKET];	/* from hashes: the next bits that
					 * decide the bucket after growth
					 * (blocks.c) */
	uint32_t passed;	/* how many blocks had no room here and are in a
				 * later bucket */
} __attribute__((aligned(64)));

_Static_assert(sizeof(struct blocks_bucket) == 64, "a cache line");

struct blocks_table {
	struct blocks_bucket *buckets;
	uint64_t mask;		/* buckets - 1 */
	unsigned shift;		/* 64 - log2(buckets) */
};

struct blocks {
	struct block *list;	/* by number; 0 means no block */
	size_t used;		/* numbers that were ever used, with 0 */
	size_t capacity;
	uint32_t *unused;	/* free numbers below `used`; the last is
				 * next */
	size_t unused_count;
	size_t max;		/* maximum of `capacity` */
	struct blocks_table now;
	struct blocks_table old;	/* no buckets: all are moved */
	uint64_t moved;		/* buckets of `old`; UINT64_MAX: no `old` */
	uint64_t cleared;	/* buckets of `now` */
	uint64_t count;
	uint64_t limit;		/* maximum of `count` for this many buckets */
};

/*
 * `max`: about how many blocks can live at a time; 0: as many as there are
 * numbers. False: no memory.
 */
bool blocks_try_init(struct blocks *blocks, size_t max);
/*
 * The block at this address. If there was none, adds one and sets *is_new; then
 * the caller fills in all fields except the address. Adding may move blocks in
 * memory, but their numbers stay. NULL: no memory, or too many blocks; *is_new
 * is set then, too.
 */
struct block *blocks_try_add(struct blocks *blocks, uint64_t address,
			     int *is_new);
/* The block at this address, or NULL. The slow path of blocks_find: the block
 * is not in the usual place. */
struct block *blocks_find_far(const struct blocks *blocks, uint64_t address);
void blocks_remove(struct blocks *blocks, struct block *block);
void blocks_free(struct blocks *blocks);
/* Removes all blocks. */
void blocks_clear(struct blocks *blocks);

/* The same for a command, which exits if there is no memory. */
static inline void blocks_init(struct blocks *blocks)
{
	if (!blocks_try_init(blocks, 0))
		grow_failed(sizeof(*blocks));
}

static inline struct block *blocks_add(struct blocks *blocks,
				       uint64_t address, int *is_new)
{
	struct block *block = blocks_try_add(blocks, address, is_new);

	if (block == NULL)
		grow_failed(blocks->used * sizeof(*block));
	return block;
}

/* Iterates over all blocks: *number is 0 at first. NULL: no more. */
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
	DEBUG_ASSERT(block > blocks->list &&
		     block < blocks->list + blocks->used);
	return (uint32_t)(block - blocks->list);
}

static inline uint64_t blocks_hash(uint64_t address)
{
	return hash_address(address);
}

static inline uint16_t blocks_tag(uint64_t hash)
{
	return (uint16_t)(hash >> 20) | 1;
}

/* The table for a block with this hash. */
static inline const struct blocks_table *blocks_table_of(
	const struct blocks *blocks, uint64_t hash)
{
	return __builtin_expect(hash >> blocks->old.shift >= blocks->moved, 0) ?
		       &blocks->old : &blocks->now;
}

static inline struct blocks_bucket *blocks_home(const struct blocks *blocks,
						uint64_t hash)
{
	const struct blocks_table *table = blocks_table_of(blocks, hash);

	return &table->buckets[hash >> table->shift];
}

/* The slots of the bucket with this tag: one bit each, the lowest of the slot's
 * byte. */
static inline uint64_t blocks_match(const struct blocks_bucket *bucket,
				    uint16_t tag)
{
	blocks_bytes bytes = __builtin_convertvector(bucket->tags == tag,
						     blocks_bytes);
	uint64_t places;

	memcpy(&places, &bytes, sizeof(places));
	return le64toh(places) & UINT64_C(0x0101010101010101);
}

/* The lowest of these slots. */
static inline unsigned blocks_lowest(uint64_t places)
{
	return (unsigned)__builtin_ctzll(places) / 8;
}

static inline struct block *blocks_find(const struct blocks *blocks,
					uint64_t address)
{
	uint64_t hash = blocks_hash(address);
	const struct blocks_bucket *bucket = blocks_home(blocks, hash);
	uint64_t places = blocks_match(bucket, blocks_tag(hash));
	struct block *block;

	if (places != 0) {
		block = &blocks->list[bucket->numbers[blocks_lowest(places)]];
		if (__builtin_expect(block->address == address, 1))
			return block;
	} else if (__builtin_expect(bucket->passed == 0, 1)) {
		return NULL;
	}
	return blocks_find_far(blocks, address);
}

/*
 * Call these two some events ahead, the second a few events after the first. To
 * gcc 12 a function that only prefetches has no effect, and calls of it are
 * removed: so the functions have to be inlined.
 */
static inline __attribute__((always_inline)) void
blocks_prefetch(const struct blocks *blocks, uint64_t address)
{
	__builtin_prefetch(blocks_home(blocks, blocks_hash(address)), 1);
}

/*
 * The number of the block, without a branch: any number if the block is not in
 * its home bucket.
 */
static inline uint32_t blocks_glance(const struct blocks *blocks,
				     uint64_t address)
{
	uint64_t hash = blocks_hash(address);
	const struct blocks_bucket *bucket = blocks_home(blocks, hash);
	uint64_t places = blocks_match(bucket, blocks_tag(hash));

	return bucket->numbers[blocks_lowest(places | UINT64_C(1) << 63)];
}

static inline __attribute__((always_inline)) void
blocks_prefetch_block(const struct blocks *blocks, uint32_t number)
{
	const char *block = (const char *)&blocks->list[number];

	__builtin_prefetch(block, 1);
	__builtin_prefetch(block + sizeof(struct block) - 1, 1);
}

/* Every block can be found, and the counts are right. With
 * GNOMON_DEBUG_ASSERTS. */
bool blocks_is_valid(const struct blocks *blocks);

#endif
