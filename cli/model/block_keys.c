/*
 * block_keys.c: see block_keys.h.
 */
#include "cli/model/block_keys.h"

#include <string.h>

#include "cli/model/core/blocks.h"
#include "cli/model/core/pools.h"
#include "cli/model/heap.h"
#include "cli/model/stats/histograms.h"
#include "unwind/base/assertion.h"

bool block_keys_have(const struct block_keys *keys, enum block_key key)
{
	for (unsigned i = 0; i < keys->count; i++)
		if (keys->list[i] == key)
			return true;
	return false;
}

uint32_t block_key_value(enum block_key key, const struct block *block)
{
	switch (key) {
	case BLOCK_KEY_THREAD:
		return block->thread;
	case BLOCK_KEY_SIZE:
		return block_key_size(block->size);
	case BLOCK_KEY_SIZE_CLASS:
		return histogram_bucket(block->size);
	case BLOCK_KEY_ARENA:
		return heap_part(block->layout);
	case BLOCK_KEY_HEAP:
		return pools_number(block->address);
	case BLOCK_KEY_LIFETIME:
	case BLOCK_KEY_MAPPING:
	case BLOCK_KEY_COUNT:
		break;
	}
	return BLOCK_KEY_UNKNOWN;
}

uint32_t block_keys_number(struct block_keys *keys, const uint32_t *values)
{
	uint32_t number = keys->count == 0 ? 0 : values[0];

	DEBUG_ASSERT(keys->count <= BLOCK_KEYS_MAX);
	for (unsigned i = 1; i < keys->count; i++)
		number = pairset_number(&keys->tuples[i - 1], number,
					values[i]);
	return number;
}

void block_keys_values(const struct block_keys *keys, uint32_t number,
		       uint32_t values[BLOCK_KEYS_MAX])
{
	for (unsigned i = keys->count; i > 1; i--) {
		const struct pairset *tuples = &keys->tuples[i - 2];

		DEBUG_ASSERT(number < tuples->pair_count);
		values[i - 1] = tuples->pairs[number].second;
		number = tuples->pairs[number].first;
	}
	values[0] = number;
}

void block_keys_of(const struct block_keys *keys, const struct block *block,
		   uint32_t values[BLOCK_KEYS_MAX])
{
	for (unsigned i = 0; i < keys->count; i++)
		values[i] = block_key_value(keys->list[i], block);
}

void block_keys_unknown(const struct block_keys *keys,
			uint32_t values[BLOCK_KEYS_MAX])
{
	for (unsigned i = 0; i < keys->count; i++)
		values[i] = keys->list[i] == BLOCK_KEY_THREAD ? 0 :
			BLOCK_KEY_UNKNOWN;
}

bool block_keys_find(const struct block_keys *keys, const uint32_t *values,
		     uint32_t *number)
{
	*number = keys->count == 0 ? 0 : values[0];
	for (unsigned i = 1; i < keys->count; i++)
		if (!pairset_find(&keys->tuples[i - 1], *number, values[i],
				  number))
			return false;
	return true;
}

bool block_keys_translate(const struct block_keys *keys,
			  const struct block_keys *others, uint32_t number,
			  uint32_t *here)
{
	uint32_t values[BLOCK_KEYS_MAX];

	DEBUG_ASSERT(keys->count == others->count);
	block_keys_values(others, number, values);
	return block_keys_find(keys, values, here);
}

void block_keys_copy(struct block_keys *keys, const struct block_keys *from)
{
	keys->count = from->count;
	memcpy(keys->list, from->list, sizeof(keys->list));
}

void block_keys_free(struct block_keys *keys)
{
	for (unsigned i = 0; i + 1 < BLOCK_KEYS_MAX; i++)
		pairset_free(&keys->tuples[i]);
}
