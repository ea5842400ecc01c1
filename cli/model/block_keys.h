/*
 * block_keys.h: by what else than its stack a block is told apart. Each key is
 * exclusive: a block has one value of it, from its birth on. Where a model has
 * keys, the figures of a context are kept apart for each tuple of their values
 * that its blocks have, under the tuple's number.
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
	BLOCK_KEY_THREAD,	/* that allocated it: threads.list */
	BLOCK_KEY_SIZE,		/* asked for */
	BLOCK_KEY_SIZE_CLASS,	/* by powers of two: histogram_bucket */
	BLOCK_KEY_ARENA,	/* whose allocator's, where: enum heap_part */
	BLOCK_KEY_LIFETIME,	/* a class of lifespans.h: another pass */
	BLOCK_KEY_MAPPING,	/* path of map_index.h: another pass */
	BLOCK_KEY_HEAP,		/* the program's own: pools.h */
	BLOCK_KEY_COUNT
};

#define BLOCK_KEYS_MAX 3	/* of one model */
/* Of blocks that were left out of the trace, where their totals do not tell
 * it; sizes that do not fit. LIFESPAN_UNKNOWN is told as this. */
#define BLOCK_KEY_UNKNOWN UINT32_MAX

/* A zeroed one has no keys. */
struct block_keys {
	enum block_key list[BLOCK_KEYS_MAX];
	unsigned count;
	/* Of two keys and more: [0] has pairs of the first two's values, [1] of
	 * its numbers and the third's. */
	struct pairset tuples[BLOCK_KEYS_MAX - 1];
};

bool block_keys_have(const struct block_keys *keys, enum block_key key);
/* BLOCK_KEY_SIZE of a size. */
static inline uint32_t block_key_size(uint64_t size)
{
	return size < BLOCK_KEY_UNKNOWN ? (uint32_t)size : BLOCK_KEY_UNKNOWN;
}
uint32_t block_key_value(enum block_key key, const struct block *block);
/* The number of a tuple, `count` values: without keys 0, of one its value. */
uint32_t block_keys_number(struct block_keys *keys, const uint32_t *values);
/* The tuple of a number. */
void block_keys_values(const struct block_keys *keys, uint32_t number,
		       uint32_t values[BLOCK_KEYS_MAX]);
/* False: it has none yet. */
bool block_keys_find(const struct block_keys *keys, const uint32_t *values,
		     uint32_t *number);
/* What stands for values that are not known: thread 0, BLOCK_KEY_UNKNOWN. */
void block_keys_unknown(const struct block_keys *keys,
			uint32_t values[BLOCK_KEYS_MAX]);
/* But for BLOCK_KEY_LIFETIME and _MAPPING, of which a block knows nothing. */
void block_keys_of(const struct block_keys *keys, const struct block *block,
		   uint32_t values[BLOCK_KEYS_MAX]);
/* The number that a tuple of others has here, with the same keys. False: it has
 * none. */
bool block_keys_translate(const struct block_keys *keys,
			  const struct block_keys *others, uint32_t number,
			  uint32_t *here);
/* The same keys, without tuples. */
void block_keys_copy(struct block_keys *keys, const struct block_keys *from);
/* The tuples; the keys stay. */
void block_keys_free(struct block_keys *keys);

#endif
