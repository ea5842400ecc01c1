/*
 * pairset.c: see pairset.h. An open-addressing index: slots hold the upper half
 * of a pair's hash and the pair's number, so that a search skips other pairs
 * without reading them. At most three quarters of the slots are used.
 */
#include "cli/base/pairset.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "cli/base/hash.h"
#include "unwind/base/assertion.h"

#define FREE UINT64_MAX		/* no pair has that number */
#define FIRST_SLOTS 64

static uint64_t hash_of(uint32_t first, uint32_t second)
{
	return hash_number((uint64_t)first << 32 | second);
}

static uint64_t *find_slot(const struct pairset *set, uint64_t hash,
			   uint32_t first, uint32_t second)
{
	for (uint64_t i = hash;; i++) {
		uint64_t *slot = &set->index[i & set->index_mask];
		const struct pair *pair;

		if (*slot == FREE)
			return slot;
		if (*slot >> 32 != hash >> 32)
			continue;
		pair = &set->pairs[(uint32_t)*slot];
		if (pair->first == first && pair->second == second)
			return slot;
	}
}

#ifdef GNOMON_DEBUG_ASSERTS
bool pairset_is_valid(const struct pairset *set)
{
	size_t used = 0;

	if (set->index == NULL)
		return set->pair_count == 0;
	if (set->index_mask & (set->index_mask + 1) ||
	    set->pair_count > set->pair_capacity)
		return false;
	for (uint64_t i = 0; i <= set->index_mask; i++)
		used += set->index[i] != FREE;
	if (used != set->pair_count || used > set->index_mask)
		return false;
	for (size_t i = 0; i < set->pair_count; i++) {
		const struct pair *pair = &set->pairs[i];
		uint64_t hash = hash_of(pair->first, pair->second);

		if (*find_slot(set, hash, pair->first, pair->second) !=
		    (hash >> 32 << 32 | i))
			return false;
	}
	return true;
}
#endif

static void enlarge(struct pairset *set)
{
	uint64_t count = set->index ? (set->index_mask + 1) * 2 : FIRST_SLOTS;

	free(set->index);
	set->index = grow_resize(NULL, count, sizeof(*set->index));
	memset(set->index, 0xff, count * sizeof(*set->index));
	set->index_mask = count - 1;
	for (size_t i = 0; i < set->pair_count; i++) {
		uint64_t hash = hash_of(set->pairs[i].first,
					set->pairs[i].second), at = hash;

		/* All pairs differ: no need to compare. */
		while (set->index[at & set->index_mask] != FREE)
			at++;
		set->index[at & set->index_mask] = hash >> 32 << 32 | i;
	}
	DEBUG_ASSERT(pairset_is_valid(set));
}

uint32_t pairset_number(struct pairset *set, uint32_t first, uint32_t second)
{
	uint64_t hash = hash_of(first, second), *slot;

	DEBUG_ASSERT(set->index != NULL || set->pair_count == 0);
	if (set->index == NULL || set->pair_count * 4 > set->index_mask * 3)
		enlarge(set);
	slot = find_slot(set, hash, first, second);
	if (*slot == FREE) {
		assert(set->pair_count < UINT32_MAX);
		GROW(set->pairs, set->pair_count, set->pair_capacity);
		*slot = hash >> 32 << 32 | set->pair_count;
		set->pairs[set->pair_count++] = (struct pair){ first, second };
	}
	DEBUG_ASSERT((uint32_t)*slot < set->pair_count);
	return (uint32_t)*slot;
}

bool pairset_find(const struct pairset *set, uint32_t first, uint32_t second,
		  uint32_t *number)
{
	const uint64_t *slot;

	if (set->index == NULL)
		return false;
	slot = find_slot(set, hash_of(first, second), first, second);
	if (*slot == FREE)
		return false;
	*number = (uint32_t)*slot;
	return true;
}

void pairset_settle(struct pairset *set)
{
	free(set->index);
	set->index = NULL;
}

void pairset_free(struct pairset *set)
{
	free(set->pairs);
	free(set->index);
	memset(set, 0, sizeof(*set));
}
