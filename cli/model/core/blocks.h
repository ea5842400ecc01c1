/*
 * blocks.h: the blocks that are live, by address. Every event touches them.
 *
 *	buckets        8 each of: a piece of the address's hash, number
 *	  └──▶ list      the blocks, side by side
 *
 * A bucket is one cache line. All its pieces of hashes are compared at once,
 * so that a search takes no branch that depends on where in it a block is, and
 * nearly always looks at one block only. A block has all the room it needs
 * without an empty place beside it; and what is freed soon after its
 * allocation stays in the cache, since its place is the next to be used. A
 * block keeps its number as long as it lives. A table of cli/base has none of
 * this, and removes nothing.
 *
 * GROWTH. Nobody waits for all blocks to be moved: a table of twice as many
 * buckets is made beside the one that is full, and each block that is added
 * moves BLOCKS_STEP buckets to it, in their order. Until all are moved, the
 * home of a block is in one table or the other, by its hash:
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
#include "unwind/claim.h"

#define BLOCK_SEQUENCE ((UINT64_C(1) << 44) - 1)
#define BLOCK_LAYOUT ((1u << 15) - 1)

struct block {
	uint64_t address;	/* 0: no block */
	uint64_t size;
	uint64_t birth;		/* stamp */
	uint64_t sequence : 44;	/* its number among its thread's allocations */
	uint64_t layout : 15;	/* enum gt_layout */
	uint64_t moving : 1;	/* a realloc of it has begun and its result is
				 * not known yet */
	uint64_t odd : 1;	/* its events came out of order, or lack others */
	uint64_t left_out : 1;	/* by the model's filter: has no cost */
	uint64_t temporary : 1;	/* as it ended: set for who looks on, tap.h */
	uint64_t pooled : 1;	/* of another heap than the allocator's */
	uint32_t cost;		/* of its context */
	uint32_t thread;	/* that allocated it */
};

_Static_assert(sizeof(struct block) == 40, "there are millions");

#define BLOCKS_BUCKET 8
#define BLOCKS_STEP 2		/* buckets that a new block moves */

typedef uint16_t blocks_tags
	__attribute__((vector_size(BLOCKS_BUCKET * sizeof(uint16_t))));
typedef uint8_t blocks_bytes __attribute__((vector_size(BLOCKS_BUCKET)));

struct blocks_bucket {
	blocks_tags tags;	/* of hashes; 0: free */
	uint32_t numbers[BLOCKS_BUCKET];
	uint8_t halves[BLOCKS_BUCKET];	/* of hashes: the bits that are next to
					 * say where it goes (blocks.c) */
	uint32_t passed;	/* how many found no room here, and lie in the
				 * next one or behind it */
} __attribute__((aligned(64)));

_Static_assert(sizeof(struct blocks_bucket) == 64, "a cache line");

struct blocks_table {
	struct blocks_bucket *buckets;
	uint64_t mask;		/* buckets - 1 */
	unsigned shift;		/* 64 - log2(buckets) */
};

struct blocks {
	struct block *list;	/* by number; 0 is no block */
	size_t used;		/* numbers that were ever in use, and 0 */
	size_t capacity;
	uint32_t *unused;	/* numbers below `used`; the last one is next */
	size_t unused_count;
	size_t most;		/* `capacity` may be that */
	struct blocks_table now;
	struct blocks_table old;	/* without buckets: all are moved */
	uint64_t moved;		/* buckets of `old`; UINT64_MAX: there is none */
	uint64_t cleared;	/* buckets of `now` */
	uint64_t count;
	uint64_t limit;		/* of `count`, for so many buckets */
};

/*
 * `most`: so many blocks can live at a time, about; 0: as many as can be
 * numbered. False: no memory.
 */
bool blocks_try_init(struct blocks *blocks, size_t most);
/*
 * The block at this address, which may be new: then everything but the
 * address is still to be filled in, and *is_new is set. Blocks may move, but
 * not be numbered anew, when others are added. NULL: no memory for it, or there
 * are too many; then *is_new is set as well.
 */
struct block *blocks_try_add(struct blocks *blocks, uint64_t address,
			     int *is_new);
/* The block at this address, or NULL: blocks_find, for where it is not as it
 * nearly always is. */
struct block *blocks_find_far(const struct blocks *blocks, uint64_t address);
void blocks_remove(struct blocks *blocks, struct block *block);
void blocks_free(struct blocks *blocks);
/* No block is there any more. */
void blocks_clear(struct blocks *blocks);

/* The same for a command, which ends without the memory. */
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
	CLAIM_FULL(block > blocks->list && block < blocks->list + blocks->used);
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

/* Where a block with this hash is, or goes. */
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

/* The places in the bucket that have this tag: one bit each, the lowest of
 * its byte. */
static inline uint64_t blocks_match(const struct blocks_bucket *bucket,
				    uint16_t tag)
{
	blocks_bytes bytes = __builtin_convertvector(bucket->tags == tag,
						     blocks_bytes);
	uint64_t places;

	memcpy(&places, &bytes, sizeof(places));
	return le64toh(places) & UINT64_C(0x0101010101010101);
}

/* The lowest of them. */
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
 * To be called some events ahead, each a few events after the one before. To
 * gcc 12 a function that only prefetches does nothing, and a call of it is left
 * out: so there must be no call.
 */
static inline __attribute__((always_inline)) void
blocks_prefetch(const struct blocks *blocks, uint64_t address)
{
	__builtin_prefetch(blocks_home(blocks, blocks_hash(address)), 1);
}

/*
 * The number of the block, as far as that can be told at a glance, that is,
 * without a branch: any number, if it is not in its home.
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

/* Every block is found, and the counts are right. With GNOMON_CLAIMS. */
bool blocks_is_valid(const struct blocks *blocks);

#endif
