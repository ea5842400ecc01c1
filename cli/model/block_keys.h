/*
 * block_keys.h: attributes, other than the stack, by which blocks are grouped.
 * Each key is exclusive: a block has one value of it, from its allocation on. A
 * model with keys has separate measures of a context for each tuple of values
 * that its blocks have, under the number of the tuple.
 *
 * Called by the reader's thread while it reads, by any thread afterwards.
 */
#ifndef GNOMON_BLOCK_KEYS_H
#define GNOMON_BLOCK_KEYS_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/base/pairset.h"

struct block;

enum block_key {
	BLOCK_KEY_THREAD, /* that allocated it: threads.list */
	BLOCK_KEY_SIZE, /* requested */
	BLOCK_KEY_SIZE_CLASS, /* by powers of two: histogram_bucket */
	BLOCK_KEY_ARENA, /* allocator and arena: enum heap_part */
	BLOCK_KEY_LIFETIME, /* a class of block_lifetimes.h: needs another pass */
	BLOCK_KEY_MAPPING, /* path, map_index.h: needs another pass */
	BLOCK_KEY_HEAP, /* a heap of the program's own: pools.h */
	BLOCK_KEY_COUNT
};

#define BLOCK_KEYS_MAX 3	/* for one model */
/* For blocks that were left out of the trace and whose totals do not have the
 * key, and for sizes that do not fit. Also printed for
 * BLOCK_LIFETIME_UNKNOWN. */
#define BLOCK_KEY_UNKNOWN UINT32_MAX

/* A zeroed struct has no keys. */
struct block_keys {
	enum block_key list[BLOCK_KEYS_MAX];
	unsigned count;
	/* With two keys or more: [0] has pairs of the first two values, [1]
	 * pairs of a number of [0] and the third value. */
	struct pairset tuples[BLOCK_KEYS_MAX - 1];
};

bool block_keys_have(const struct block_keys *keys, enum block_key key);
/* BLOCK_KEY_SIZE of a size. */
static inline uint32_t block_key_size(uint64_t size)
{
	return size < BLOCK_KEY_UNKNOWN ? (uint32_t)size : BLOCK_KEY_UNKNOWN;
}
uint32_t block_key_value(enum block_key key, const struct block *block);
/* The number of a tuple of `count` values: 0 without keys, the value itself
 * with one key. */
uint32_t block_keys_number(struct block_keys *keys, const uint32_t *values);
/* The tuple of a number. */
void block_keys_values(const struct block_keys *keys, uint32_t number,
		       uint32_t values[BLOCK_KEYS_MAX]);
/* False: the tuple has no number yet. */
bool block_keys_find(const struct block_keys *keys, const uint32_t *values,
		     uint32_t *number);
/* The values that mean "not known": thread 0, BLOCK_KEY_UNKNOWN. */
void block_keys_unknown(const struct block_keys *keys,
			uint32_t values[BLOCK_KEYS_MAX]);
/* Without BLOCK_KEY_LIFETIME and BLOCK_KEY_MAPPING: struct block does not have
 * these values. */
void block_keys_of(const struct block_keys *keys, const struct block *block,
		   uint32_t values[BLOCK_KEYS_MAX]);
/* The number in `keys` of the tuple that has this number in `others`, which has
 * the same keys. False: `keys` does not have the tuple. */
bool block_keys_translate(const struct block_keys *keys,
			  const struct block_keys *others, uint32_t number,
			  uint32_t *here);
/* The same keys, without tuples. */
void block_keys_copy(struct block_keys *keys, const struct block_keys *from);
/* Frees the tuples; the keys stay. */
void block_keys_free(struct block_keys *keys);

#endif
