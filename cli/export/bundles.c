/*
 * bundles.c: see bundles.h. Called by the main thread.
 */
#include "cli/export/bundles.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "cli/base/hash.h"
#include "cli/base/table.h"

#define SHIFT_MAX 63
#define INDEX_FIRST 1024

void bundles_init(struct bundles *bundles, size_t limit)
{
	*bundles = (struct bundles){ .limit = limit };
	bundles->index_mask = INDEX_FIRST - 1;
	bundles->index = grow_zeroed(INDEX_FIRST, sizeof(*bundles->index));
}

void bundles_free(struct bundles *bundles)
{
	free(bundles->list);
	free(bundles->index);
}

static uint64_t span_of(const struct bundles *bundles, uint64_t ns)
{
	return ns == BUNDLE_LIVES ? ns : ns >> bundles->shift;
}

static bool go_together(const struct bundles *bundles, const struct bundle *a,
			const struct bundle *b)
{
	return a->node == b->node && a->thread == b->thread &&
		span_of(bundles, a->alloc_ns) ==
			span_of(bundles, b->alloc_ns) &&
		span_of(bundles, a->ended) == span_of(bundles, b->ended);
}

/* The index slot of the bundle to merge with, or an empty slot. */
static uint32_t *place_of(struct bundles *bundles, const struct bundle *bundle)
{
	uint64_t hash = (uint64_t)bundle->node << 32 | bundle->thread;
	size_t i;

	hash = hash_number(hash) + span_of(bundles, bundle->alloc_ns);
	hash = hash_number(hash) + span_of(bundles, bundle->ended);
	for (i = hash_number(hash) & bundles->index_mask; bundles->index[i] != 0;
	     i = (i + 1) & bundles->index_mask)
		if (go_together(bundles, bundle,
				&bundles->list[bundles->index[i] - 1]))
			break;
	return &bundles->index[i];
}

static void merge(struct bundle *into, const struct bundle *from)
{
	if (from->alloc_ns < into->alloc_ns)
		into->alloc_ns = from->alloc_ns;
	if (from->ended > into->ended)
		into->ended = from->ended;
	into->bytes += from->bytes;
	into->blocks += from->blocks;
	into->temporary += from->temporary;
}

static void put(struct bundles *bundles, struct bundle bundle)
{
	uint32_t *place = place_of(bundles, &bundle);

	if (*place != 0) {
		merge(&bundles->list[*place - 1], &bundle);
		return;
	}
	bundles->list[bundles->count++] = bundle;
	*place = (uint32_t)bundles->count;
}

/* Rebuild the index. Bundles are written at or before the position being
 * read. */
static void index_again(struct bundles *bundles)
{
	size_t count = bundles->count;

	memset(bundles->index, 0,
	       (bundles->index_mask + 1) * sizeof(*bundles->index));
	bundles->count = 0;
	for (size_t i = 0; i < count; i++)
		put(bundles, bundles->list[i]);
}

/* Reduce the count by at least a quarter, so that this is rare. */
static void widen(struct bundles *bundles)
{
	while (bundles->count > bundles->limit / 4 * 3 &&
	       bundles->shift < SHIFT_MAX) {
		bundles->shift++;
		index_again(bundles);
	}
}

void bundles_add(struct bundles *bundles, const struct bundle *bundle)
{
	GROW(bundles->list, bundles->count, bundles->capacity);
	put(bundles, *bundle);
	if (bundles->count > bundles->limit)
		widen(bundles);
	if (bundles->count * 2 > bundles->index_mask) {
		bundles->index_mask = bundles->index_mask * 2 + 1;
		bundles->index = grow_resize(bundles->index,
					     bundles->index_mask + 1,
					     sizeof(*bundles->index));
		index_again(bundles);
	}
}
