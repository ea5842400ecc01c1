/*
 * blocks.c: buckets of eight; if a bucket is full, the next one is used. A
 * bucket counts the blocks that passed it, so a search knows where to end, and
 * a removal moves nothing: there are no tombstones, and a table that was once
 * large does not become slow. At most 5 of 8 slots are used.
 *
 * Growth: blocks whose home is bucket i move to 2i or 2i + 1, by one bit of
 * their hash. In a large table that bit is stored in the bucket (HALVES_SHIFT),
 * so that moving a bucket does not read its blocks, each of which would be a
 * cache miss.
 *
 *  I1  `passed` counts each block in its home bucket and in all buckets from
 *      there up to its own, which is not included. All are in one table.
 *  I2  `old` always has a free slot while it exists: it begins with at most 7
 *      of 8 used, and for each BLOCKS_STEP of its buckets one block is added.
 *  I3  Buckets of `now` below `cleared` are in use, the others are not: homes
 *      are below 2 * moved, and a block that passes the last one clears the
 *      next.
 *
 * Called by the reader's thread, or the recorder.
 */
#include "cli/model/core/blocks.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/try_alloc.h"
#include "unwind/base/assertion.h"

#define FIRST_BITS 9
#define BITS_MAX 30
#define FIRST_LIST 512
#define UNUSED_AHEAD 8		/* numbers before use at which the block is
				 * prefetched */
#define NUMBERS_MAX ((size_t)UINT32_MAX - 1)
/* `halves` has the bits of the hash from this one on: for tables that grow from
 * 2^16 to 2^24 buckets. Smaller tables are in the cache, with their blocks. */
#define HALVES_SHIFT 40
#define HALVES_BITS 8

/* Does not clear the buckets. */
static bool allocate(struct blocks_table *table, unsigned bits)
{
	size_t count = (size_t)1 << bits;

	assert(bits >= FIRST_BITS && bits <= BITS_MAX);
	table->buckets =
		try_alloc_lines(NULL, 0, count * sizeof(*table->buckets));
	table->mask = count - 1;
	table->shift = 64 - bits;
	return table->buckets != NULL;
}

static void all_moved(struct blocks *blocks)
{
	blocks->old = (struct blocks_table){ .shift = 63 };
	blocks->moved = UINT64_MAX;
}

/* Clears buckets of `now` below this one. */
static inline void clear(struct blocks *blocks, uint64_t end)
{
	DEBUG_ASSERT(end <= blocks->now.mask + 1); /* I3 */
	if (end <= blocks->cleared)
		return;
	memset(&blocks->now.buckets[blocks->cleared], 0,
	       (end - blocks->cleared) * sizeof(*blocks->now.buckets));
	blocks->cleared = end;
}

/* How many slots may be used. */
static uint64_t limit_of(const struct blocks_table *table)
{
	return (table->mask + 1) * BLOCKS_BUCKET / 8 * 5;
}

/* Makes room for this many blocks in the list, and in the list of unused
 * numbers, so that removing a block never needs memory. */
static bool make_room(struct blocks *blocks, size_t capacity)
{
	size_t list_size = capacity * sizeof(*blocks->list);
	size_t list_before = blocks->capacity * sizeof(*blocks->list);
	struct block *list, *back;
	uint32_t *unused;

	assert(capacity >= blocks->used && capacity > 0);
	list = try_alloc_pages(blocks->list, list_before, list_size);
	if (list == NULL)
		return false;
	blocks->list = list;	/* it may have moved */
	unused = try_alloc_pages(blocks->unused,
				 blocks->capacity * sizeof(*unused),
				 capacity * sizeof(*unused));
	if (unused == NULL) {
		if (list_before == 0) {
			try_alloc_pages_free(list, list_size);
			blocks->list = NULL;
			return false;
		}
		/* if that fails, the list stays larger */
		back = try_alloc_pages(list, list_size, list_before);
		if (back != NULL)
			blocks->list = back;
		return false;
	}
	blocks->unused = unused;
	blocks->capacity = capacity;
	return true;
}

bool blocks_try_init(struct blocks *blocks, size_t max)
{
	memset(blocks, 0, sizeof(*blocks));
	all_moved(blocks);
	blocks->max = max > 0 && max < NUMBERS_MAX ? max : NUMBERS_MAX;
	if (!allocate(&blocks->now, FIRST_BITS))
		return false;
	clear(blocks, blocks->now.mask + 1);
	blocks->limit = limit_of(&blocks->now);
	if (!make_room(blocks, FIRST_LIST)) {
		blocks_free(blocks);
		return false;
	}
	blocks->used++;
	return true;
}

static inline struct blocks_bucket *next(const struct blocks_table *table,
					 struct blocks_bucket *bucket)
{
	return &table->buckets[(size_t)(bucket + 1 - table->buckets) &
			       table->mask];
}

/* The first bucket with room, for a block with this home. */
static inline struct blocks_bucket *with_room(struct blocks *blocks,
					      const struct blocks_table *table,
					      struct blocks_bucket *bucket,
					      unsigned *place)
{
	uint64_t free;

	while ((free = blocks_match(bucket, 0)) == 0) {
		bucket->passed++;
		bucket = next(table, bucket);
		if (table == &blocks->now)	/* I3 */
			clear(blocks, (uint64_t)(bucket - table->buckets) + 1);
	}
	*place = blocks_lowest(free);
	return bucket;
}

/* Stores a number in the bucket where it belongs. */
static inline void put(struct blocks *blocks, uint64_t hash, uint32_t number)
{
	unsigned place;
	struct blocks_bucket *bucket =
		with_room(blocks, blocks_table_of(blocks, hash),
			  blocks_home(blocks, hash), &place);

	DEBUG_ASSERT(number > 0 && number < blocks->used);
	bucket->tags[place] = blocks_tag(hash);
	bucket->numbers[place] = number;
	bucket->halves[place] = (uint8_t)(hash >> HALVES_SHIFT);
	DEBUG_ASSERT(bucket->tags[place] != 0);
}

/* The slot of the block in this bucket; NULL: it is not there. */
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
	const struct blocks_table *table = blocks_table_of(blocks, hash);
	struct blocks_bucket *bucket = blocks_home(blocks, hash);
	const uint32_t *number = place_of(blocks, bucket, hash, address);

	/* blocks that passed each of these may be gone, or in other buckets */
	for (uint64_t left = table->mask;
	     number == NULL && bucket->passed > 0 && left > 0; left--) {
		bucket = next(table, bucket);
		number = place_of(blocks, bucket, hash, address);
	}
	return number == NULL ? NULL : &blocks->list[*number];
}

/* ---- growth ---- */

/* Moves a slot from a bucket of `old` to the home with this index in `now`. */
static inline void move(struct blocks *blocks, struct blocks_bucket *from,
			unsigned at, uint64_t home)
{
	unsigned place;
	struct blocks_bucket *to =
		with_room(blocks, &blocks->now, &blocks->now.buckets[home],
			  &place);

	DEBUG_ASSERT(from->tags[at] != 0 && home <= blocks->now.mask);
	DEBUG_ASSERT(blocks_hash(blocks->list[from->numbers[at]].address) >>
			     blocks->now.shift ==
		     home);
	to->tags[place] = from->tags[at];
	to->numbers[place] = from->numbers[at];
	to->halves[place] = from->halves[at];
	from->tags[at] = 0;
}

/* Moves blocks in the bucket whose home is `home` of `old`; returns how
 * many. */
static unsigned move_own(struct blocks *blocks, struct blocks_bucket *bucket,
			 uint64_t home)
{
	unsigned count = 0;

	for (unsigned i = 0; i < BLOCKS_BUCKET; i++) {
		uint64_t hash;

		if (bucket->tags[i] == 0)
			continue;
		hash = blocks_hash(blocks->list[bucket->numbers[i]].address);
		if (hash >> blocks->old.shift != home)
			continue;
		move(blocks, bucket, i, hash >> blocks->now.shift);
		count++;
	}
	return count;
}

/* Moves blocks that passed their home. */
static void move_far(struct blocks *blocks, uint64_t home)
{
	struct blocks_bucket *const first = &blocks->old.buckets[home];
	struct blocks_bucket *bucket = first;

	while (bucket->passed > 0) {
		unsigned count;

		bucket = next(&blocks->old, bucket);
		if (bucket == first)
			break;
		count = move_own(blocks, bucket, home);
		DEBUG_ASSERT(first->passed >= count); /* I1 */
		for (struct blocks_bucket *b = first; count > 0 && b != bucket;
		     b = next(&blocks->old, b))
			b->passed -= count;	/* I1 */
	}
}

/* The same if all blocks in the bucket have their home there. */
static inline void move_whole(struct blocks *blocks,
			      struct blocks_bucket *bucket, uint64_t home,
			      unsigned bit)
{
	for (unsigned i = 0; i < BLOCKS_BUCKET; i++)
		if (bucket->tags[i] != 0)
			move(blocks, bucket, i,
			     2 * home + (bucket->halves[i] >> bit & 1));
}

/* Moves all blocks whose home is the next bucket of `old`. */
static void move_bucket(struct blocks *blocks)
{
	const struct blocks_table *old = &blocks->old;
	uint64_t home = blocks->moved;
	struct blocks_bucket *bucket = &old->buckets[home];
	/* the bit that decides; wraps around if it is not in `halves` */
	unsigned bit = old->shift - 1 - HALVES_SHIFT;

	DEBUG_ASSERT(home <= old->mask);
	clear(blocks, 2 * home + 2);	/* I3 */
	/* Blocks of lower homes are gone. Others can be here only if they
	 * passed the end of the table, and so the bucket before this one. */
	if (bit < HALVES_BITS &&
	    old->buckets[(home - 1) & old->mask].passed == 0)
		move_whole(blocks, bucket, home, bit);
	else
		move_own(blocks, bucket, home);
	move_far(blocks, home);
	blocks->moved++;
}

static void move_some(struct blocks *blocks)
{
	for (unsigned i = 0; i < BLOCKS_STEP; i++) {
		move_bucket(blocks);
		if (blocks->moved <= blocks->old.mask)
			continue;
		free(blocks->old.buckets);
		all_moved(blocks);
		DEBUG_ASSERT(blocks_is_valid(blocks));
		return;
	}
}

/* Doubles the number of buckets. */
static bool enlarge(struct blocks *blocks)
{
	struct blocks_table more;
	unsigned bits = 64 - blocks->now.shift;

	assert(blocks->old.buckets == NULL);
	if (bits == BITS_MAX || !allocate(&more, bits + 1))
		return false;
	blocks->old = blocks->now;
	blocks->now = more;
	blocks->moved = blocks->cleared = 0;
	blocks->limit = limit_of(&more);
	DEBUG_ASSERT(blocks->count < blocks->limit);
	return true;
}

/* ---- one block ---- */

/* A free number; 0: there is none. */
static inline uint32_t new_number(struct blocks *blocks)
{
	size_t left, capacity;

	if (blocks->unused_count > 0) {
		left = --blocks->unused_count;
		/* Its block may be out of the cache. */
		__builtin_prefetch(&blocks->list[blocks->unused[
			left > UNUSED_AHEAD ? left - UNUSED_AHEAD : 0]], 1);
		DEBUG_ASSERT(blocks->unused[left] > 0 &&
			     blocks->unused[left] < blocks->used);
		return blocks->unused[left];
	}
	if (blocks->used == blocks->capacity) {
		capacity = blocks->capacity * 2;
		if (capacity > blocks->max)
			capacity = blocks->max;
		if (capacity <= blocks->used || !make_room(blocks, capacity))
			return 0;
	}
	DEBUG_ASSERT(blocks->used < blocks->capacity);
	return (uint32_t)blocks->used++;
}

/* Without memory to grow, buckets are filled until only one slot is free: a
 * search needs it to end. */
static inline bool has_place(struct blocks *blocks)
{
	return blocks->count < blocks->limit || enlarge(blocks) ||
	       blocks->count < (blocks->now.mask + 1) * (BLOCKS_BUCKET - 1);
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
	if (blocks->old.buckets != NULL)
		move_some(blocks);
	number = new_number(blocks);
	if (number == 0)
		return NULL;
	put(blocks, blocks_hash(address), number);
	blocks->list[number].address = address;
	blocks->count++;
	DEBUG_ASSERT(blocks->count + blocks->unused_count + 1 == blocks->used);
	DEBUG_ASSERT(blocks->count < blocks->used);
	return &blocks->list[number];
}

void blocks_remove(struct blocks *blocks, struct block *block)
{
	uint64_t hash = blocks_hash(block->address);
	const struct blocks_table *table = blocks_table_of(blocks, hash);
	struct blocks_bucket *bucket = blocks_home(blocks, hash);
	uint32_t *number;

	assert(block->address != 0 && blocks->count > 0);
	while ((number = place_of(blocks, bucket, hash,
				  block->address)) == NULL) {
		assert(bucket->passed > 0);	/* I1 */
		bucket->passed--;
		bucket = next(table, bucket);
	}
	DEBUG_ASSERT(*number == blocks_number(blocks, block));
	bucket->tags[number - bucket->numbers] = 0;
	block->address = 0;
	DEBUG_ASSERT(blocks->unused_count < blocks->used);
	blocks->unused[blocks->unused_count++] = *number;
	blocks->count--;
	DEBUG_ASSERT(blocks->count + blocks->unused_count + 1 == blocks->used);
}

void blocks_clear(struct blocks *blocks)
{
	struct blocks fresh;

	/* start with a small one, which is cleared faster; if there is
	 * memory */
	if (blocks_try_init(&fresh, blocks->max)) {
		blocks_free(blocks);
		*blocks = fresh;
		return;
	}
	free(blocks->old.buckets);
	all_moved(blocks);
	blocks->cleared = 0;
	clear(blocks, blocks->now.mask + 1);
	blocks->used = 1;
	blocks->unused_count = 0;
	blocks->count = 0;
}

void blocks_free(struct blocks *blocks)
{
	free(blocks->now.buckets);
	free(blocks->old.buckets);
	try_alloc_pages_free(blocks->list,
			     blocks->capacity * sizeof(*blocks->list));
	try_alloc_pages_free(blocks->unused,
			     blocks->capacity * sizeof(*blocks->unused));
	memset(blocks, 0, sizeof(*blocks));
}

#ifdef GNOMON_DEBUG_ASSERTS
/* The distances of the blocks in a bucket from their homes. */
static uint64_t distances(const struct blocks *blocks,
			  const struct blocks_table *table, uint64_t index)
{
	const struct blocks_bucket *bucket = &table->buckets[index];
	uint64_t sum = 0;

	for (unsigned i = 0; i < BLOCKS_BUCKET; i++) {
		uint64_t hash = blocks_hash(
			blocks->list[bucket->numbers[i]].address);

		if (bucket->tags[i] != 0)
			sum += (index - (hash >> table->shift)) & table->mask;
	}
	return sum;
}

/* I1 in total, for the first `end` buckets. */
static bool passed_is_valid(const struct blocks *blocks,
			    const struct blocks_table *table, uint64_t end)
{
	uint64_t passed = 0, far = 0;

	for (uint64_t i = 0; i < end; i++) {
		passed += table->buckets[i].passed;
		far += distances(blocks, table, i);
	}
	return passed == far;
}

bool blocks_is_valid(const struct blocks *blocks)
{
	const struct blocks_table *old = &blocks->old;
	uint64_t listed = 0;
	uint32_t number = 0;
	const struct block *block;

	while ((block = blocks_next(blocks, &number)) != NULL) {
		listed++;
		if (blocks_find(blocks, block->address) != block)
			return false;
	}
	return listed == blocks->count && blocks->list[0].address == 0 &&
	       blocks->used <= blocks->capacity &&
	       listed + blocks->unused_count + 1 == blocks->used &&
	       blocks->cleared <= blocks->now.mask + 1 &&
	       passed_is_valid(blocks, &blocks->now, blocks->cleared) &&
	       (old->buckets == NULL ||
		(blocks->cleared >= 2 * blocks->moved &&	/* I3 */
		 passed_is_valid(blocks, old, old->mask + 1)));
}
#endif
