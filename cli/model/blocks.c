/*
 * blocks.c: buckets of eight, and the next one where one is full. A bucket
 * counts those that went past it, so a search knows where to end and nothing
 * is moved when a block goes: there are no tombstones, and a table that was
 * once large does not become slow. At most 5 of 8 places are used.
 *
 *  I1  Between a block's home and its bucket, each bucket's `passed` counts
 *      it, the home's too, its own not.
 *
 * Called by the reader's thread, or the recorder's writer.
 */
#include "cli/model/blocks.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/room.h"
#include "unwind/claim.h"

#define FIRST_BITS 9
#define BITS_MAX 30
#define FIRST_LIST 512
#define UNUSED_AHEAD 8		/* numbers whose block is fetched in advance, */
#define MOVE_AHEAD 16		/* and whose bucket is, where they all move */
#define NUMBERS_MAX ((size_t)UINT32_MAX - 1)

static bool allocate(struct blocks *blocks, unsigned bits)
{
	size_t count = (size_t)1 << bits;
	struct blocks_bucket *buckets =
		room_lines(NULL, 0, count * sizeof(*buckets));

	assert(bits >= FIRST_BITS && bits <= BITS_MAX);
	if (buckets == NULL)
		return false;
	memset(buckets, 0, count * sizeof(*buckets));
	blocks->buckets = buckets;
	blocks->mask = count - 1;
	blocks->shift = 64 - bits;
	blocks->limit = count * BLOCKS_BUCKET / 8 * 5;
	return true;
}

/* Room for so many in the list; and in that of unused ones, so that a block
 * can always go. */
static bool make_room(struct blocks *blocks, size_t capacity)
{
	uint32_t *unused;
	struct block *list;

	assert(capacity >= blocks->used && capacity > 0);
	unused = room_resize(blocks->unused, capacity, sizeof(*unused));
	if (unused == NULL)
		return false;
	blocks->unused = unused;
	list = room_lines(blocks->list, blocks->used * sizeof(*list),
			  capacity * sizeof(*list));
	if (list == NULL)
		return false;
	blocks->list = list;
	blocks->capacity = capacity;
	return true;
}

bool blocks_try_init(struct blocks *blocks, size_t most)
{
	memset(blocks, 0, sizeof(*blocks));
	blocks->most = most > 0 && most < NUMBERS_MAX ? most : NUMBERS_MAX;
	if (!allocate(blocks, FIRST_BITS))
		return false;
	if (!make_room(blocks, FIRST_LIST)) {
		blocks_free(blocks);
		return false;
	}
	memset(&blocks->list[blocks->used++], 0, sizeof(*blocks->list));
	return true;
}

static inline struct blocks_bucket *next(const struct blocks *blocks,
					 struct blocks_bucket *bucket)
{
	return &blocks->buckets[(size_t)(bucket + 1 - blocks->buckets) &
				blocks->mask];
}

/* Put a number where it belongs. */
static inline void put(struct blocks *blocks, uint64_t hash, uint32_t number)
{
	struct blocks_bucket *bucket = blocks_home(blocks, hash);
	uint64_t free;
	unsigned place;

	CLAIM_FULL(number > 0 && number < blocks->used);
	while ((free = blocks_match(bucket, 0)) == 0) {
		bucket->passed++;
		bucket = next(blocks, bucket);
	}
	place = blocks_lowest(free);
	bucket->tags[place] = blocks_tag(hash);
	bucket->numbers[place] = number;
	CLAIM_FULL(bucket->tags[place] != 0);
}

/* The place of the block, which is in the bucket or not. NULL: not. */
static inline uint32_t *place_of(const struct blocks *blocks,
				 struct blocks_bucket *bucket, uint64_t hash,
				 uint64_t address)
{
	uint64_t places = blocks_match(bucket, blocks_tag(hash));

	for (; places != 0; places &= places - 1) {
		uint32_t *number = &bucket->numbers[blocks_lowest(places)];

		if (blocks->list[*number].address == address)
			return number;
	}
	return NULL;
}

struct block *blocks_find_far(const struct blocks *blocks, uint64_t address)
{
	uint64_t hash = blocks_hash(address);
	struct blocks_bucket *bucket = blocks_home(blocks, hash);
	const uint32_t *number = place_of(blocks, bucket, hash, address);

	while (number == NULL && bucket->passed > 0) {
		bucket = next(blocks, bucket);
		number = place_of(blocks, bucket, hash, address);
	}
	return number == NULL ? NULL : &blocks->list[*number];
}

/* Twice as many buckets. */
static bool enlarge(struct blocks *blocks)
{
	struct blocks_bucket *old = blocks->buckets;
	unsigned bits = 64 - blocks->shift;

	if (bits == BITS_MAX || !allocate(blocks, bits + 1))
		return false;
	free(old);
	for (size_t i = 1; i < blocks->used; i++) {
		if (i + MOVE_AHEAD < blocks->used)
			blocks_prefetch(blocks,
					blocks->list[i + MOVE_AHEAD].address);
		if (blocks->list[i].address != 0)
			put(blocks, blocks_hash(blocks->list[i].address),
			    (uint32_t)i);
	}
	CLAIM_FULL(blocks_is_valid(blocks));
	CLAIM_FULL(blocks->count < blocks->limit);
	return true;
}

/* A number that is free; 0: there is none. */
static inline uint32_t new_number(struct blocks *blocks)
{
	size_t left, capacity;

	if (blocks->unused_count > 0) {
		left = --blocks->unused_count;
		/* It may have been free for long. */
		__builtin_prefetch(&blocks->list[blocks->unused[
			left > UNUSED_AHEAD ? left - UNUSED_AHEAD : 0]], 1);
		CLAIM_FULL(blocks->unused[left] > 0 &&
			   blocks->unused[left] < blocks->used);
		return blocks->unused[left];
	}
	if (blocks->used == blocks->capacity) {
		capacity = blocks->capacity * 2;
		if (capacity > blocks->most)
			capacity = blocks->most;
		if (capacity <= blocks->used || !make_room(blocks, capacity))
			return 0;
	}
	CLAIM_FULL(blocks->used < blocks->capacity);
	return (uint32_t)blocks->used++;
}

/* Without memory for more, buckets are filled to the last place but one each:
 * a search must end. */
static inline bool has_place(struct blocks *blocks)
{
	return blocks->count < blocks->limit || enlarge(blocks) ||
	       blocks->count < (blocks->mask + 1) * (BLOCKS_BUCKET - 1);
}

struct block *blocks_try_add(struct blocks *blocks, uint64_t address,
			     int *is_new)
{
	struct block *block = blocks_find(blocks, address);
	uint32_t number;

	*is_new = block == NULL;
	if (!*is_new)
		return block;
	if (!has_place(blocks))
		return NULL;
	number = new_number(blocks);
	if (number == 0)
		return NULL;
	put(blocks, blocks_hash(address), number);
	blocks->list[number].address = address;
	blocks->count++;
	CLAIM_FULL(blocks->count < blocks->used);
	return &blocks->list[number];
}

void blocks_remove(struct blocks *blocks, struct block *block)
{
	uint64_t hash = blocks_hash(block->address);
	struct blocks_bucket *bucket = blocks_home(blocks, hash);
	uint32_t *number;

	assert(block->address != 0 && blocks->count > 0);
	while ((number = place_of(blocks, bucket, hash,
				  block->address)) == NULL) {
		assert(bucket->passed > 0);	/* I1 */
		bucket->passed--;
		bucket = next(blocks, bucket);
	}
	bucket->tags[number - bucket->numbers] = 0;
	block->address = 0;
	CLAIM_FULL(blocks->unused_count < blocks->used);
	blocks->unused[blocks->unused_count++] = *number;
	blocks->count--;
}

void blocks_clear(struct blocks *blocks)
{
	struct blocks fresh;

	/* a small one, which is soon cleared again; if it can be had */
	if (blocks_try_init(&fresh, blocks->most)) {
		blocks_free(blocks);
		*blocks = fresh;
		return;
	}
	memset(blocks->buckets, 0,
	       (blocks->mask + 1) * sizeof(*blocks->buckets));
	blocks->used = 1;
	blocks->unused_count = 0;
	blocks->count = 0;
}

void blocks_free(struct blocks *blocks)
{
	free(blocks->buckets);
	free(blocks->list);
	free(blocks->unused);
	memset(blocks, 0, sizeof(*blocks));
}

#ifdef GNOMON_CLAIMS
/* How far those in a bucket are from their homes. */
static uint64_t distances(const struct blocks *blocks, size_t index)
{
	const struct blocks_bucket *bucket = &blocks->buckets[index];
	uint64_t sum = 0;

	for (unsigned i = 0; i < BLOCKS_BUCKET; i++) {
		uint64_t address =
			blocks->list[bucket->numbers[i]].address;

		if (bucket->tags[i] != 0)
			sum += (uint64_t)(bucket - blocks_home(blocks,
						blocks_hash(address))) &
			       blocks->mask;
	}
	return sum;
}

bool blocks_is_valid(const struct blocks *blocks)
{
	uint64_t listed = 0, passed = 0, far = 0;
	uint32_t number = 0;
	const struct block *block;

	while ((block = blocks_next(blocks, &number)) != NULL) {
		listed++;
		if (blocks_find(blocks, block->address) != block)
			return false;
	}
	for (size_t i = 0; i <= blocks->mask; i++) {
		passed += blocks->buckets[i].passed;
		far += distances(blocks, i);
	}
	return listed == blocks->count && blocks->list[0].address == 0 &&
	       blocks->used <= blocks->capacity &&
	       listed + blocks->unused_count + 1 == blocks->used &&
	       passed == far;	/* I1 */
}
#endif
