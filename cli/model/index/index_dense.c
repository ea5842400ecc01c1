/*
 * index_dense.c: see index_dense.h. A position is node × values of the keys,
 * with the last key varying fastest. Values are digits; "not known" is the last
 * digit.
 */
#include "cli/model/index/index_dense.h"

#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "cli/model/heap.h"
#include "cli/model/block_lifetimes.h"
#include "cli/model/map_index.h"
#include "cli/model/model_state.h"
#include "cli/model/index/index_groups.h"
#include "cli/model/stats/histograms.h"
#include "unwind/base/assertion.h"

#define WORD 64

/* After the classes of lifetimes. */
#define DIGIT_LIVE HISTOGRAM_BUCKETS
#define DIGIT_UNKNOWN (HISTOGRAM_BUCKETS + 1)

/* 0: too many values, or unlimited. */
static uint64_t radix_of(const struct model *model, enum block_key key)
{
	switch (key) {
	case BLOCK_KEY_THREAD:
		return model->threads.count;
	case BLOCK_KEY_SIZE_CLASS:
		return HISTOGRAM_BUCKETS;
	case BLOCK_KEY_ARENA:
		return HEAP_PARTS;
	case BLOCK_KEY_LIFETIME:
		return DIGIT_UNKNOWN + 1;
	case BLOCK_KEY_MAPPING:
		return map_index_paths(model->mappings) + 1;
	case BLOCK_KEY_SIZE:
	case BLOCK_KEY_HEAP:
	case BLOCK_KEY_COUNT:
		break;
	}
	return 0;
}

static inline uint32_t digit_of(enum block_key key, uint32_t radix,
				uint32_t value)
{
	if (key == BLOCK_KEY_LIFETIME && value == BLOCK_LIFETIME_LIVE)
		return DIGIT_LIVE;
	return value < radix ? value : radix - 1;
}

static uint32_t value_of(enum block_key key, uint32_t radix, uint32_t digit)
{
	if (key == BLOCK_KEY_LIFETIME && digit == DIGIT_LIVE)
		return BLOCK_LIFETIME_LIVE;
	if ((key == BLOCK_KEY_LIFETIME || key == BLOCK_KEY_MAPPING) &&
	    digit == radix - 1)
		return BLOCK_KEY_UNKNOWN;
	return digit;
}

bool index_dense_begin(struct index_dense *dense, const struct model *model,
		       const struct block_keys *keys)
{
	*dense = (struct index_dense){
		.keys = keys->count,
		.nodes = model->merged ? 1 :
			(uint32_t)model->contexts.node_count,
	};
	dense->cells = dense->nodes;
	for (unsigned i = 0; i < keys->count; i++) {
		uint64_t radix = radix_of(model, keys->list[i]);

		if (radix == 0 || radix > INDEX_DENSE_MAX ||
		    dense->cells * radix >= INDEX_DENSE_MAX)
			return false;
		dense->key[i] = keys->list[i];
		dense->radix[i] = (uint32_t)radix;
		dense->cells *= radix;
	}
	if (dense->cells == 0)
		return false;
	dense->bits = index_dense_bits(dense);
	return true;
}

uint64_t *index_dense_bits(const struct index_dense *dense)
{
	return grow_zeroed(dense->cells / WORD + 1, sizeof(uint64_t));
}

void index_dense_places(const struct index_dense *dense, const uint64_t *nodes,
			const struct index_values *values, size_t count,
			uint32_t *places)
{
	for (size_t i = 0; i < count; i++)
		places[i] = nodes[i] < dense->nodes ? (uint32_t)nodes[i] : 0;
	for (unsigned k = 0; k < dense->keys; k++) {
		uint32_t radix = dense->radix[k];
		const uint32_t *of = values->of[k];

		for (size_t i = 0; i < count; i++)
			places[i] = places[i] * radix +
				digit_of(dense->key[k], radix, of[i]);
	}
	for (size_t i = 0; i < count; i++)
		if (nodes[i] >= dense->nodes)
			places[i] = (uint32_t)dense->cells;
}

void index_dense_add(struct index_dense *dense, const uint64_t *bits)
{
	for (size_t i = 0; i <= dense->cells / WORD; i++)
		dense->bits[i] |= bits[i];
}

void index_dense_fill(struct index_dense *dense)
{
	memset(dense->bits, 0xff,
	       (dense->cells / WORD + 1) * sizeof(*dense->bits));
	dense->bits[dense->cells / WORD] =
		(UINT64_C(1) << dense->cells % WORD) - 1;
}

size_t index_dense_seal(struct index_dense *dense)
{
	size_t words = dense->cells / WORD + 1, count = 0;

	/* the position of rows in no group */
	dense->bits[dense->cells / WORD] &=
		~(UINT64_C(1) << dense->cells % WORD);
	dense->before = grow_zeroed(words, sizeof(*dense->before));
	for (size_t i = 0; i < words; i++) {
		dense->before[i] = (uint32_t)count;
		count += (size_t)__builtin_popcountll(dense->bits[i]);
	}
	return count;
}

uint32_t index_dense_number(const struct index_dense *dense, uint32_t place)
{
	uint64_t word = dense->bits[place / WORD];
	uint64_t bit = UINT64_C(1) << place % WORD;

	DEBUG_ASSERT(place <= dense->cells);
	if (!(word & bit))
		return STORE_NONE;
	return dense->before[place / WORD] +
	       (uint32_t)__builtin_popcountll(word & (bit - 1));
}

uint32_t index_dense_node(const struct index_dense *dense, uint64_t place)
{
	return (uint32_t)(place / (dense->cells / dense->nodes));
}

void index_dense_values(const struct index_dense *dense, uint64_t place,
			uint32_t values[BLOCK_KEYS_MAX])
{
	for (unsigned i = dense->keys; i > 0; i--) {
		uint32_t radix = dense->radix[i - 1];

		values[i - 1] = value_of(dense->key[i - 1], radix,
					 (uint32_t)(place % radix));
		place /= radix;
	}
}

void index_dense_free(struct index_dense *dense)
{
	free(dense->bits);
	free(dense->before);
	memset(dense, 0, sizeof(*dense));
}
