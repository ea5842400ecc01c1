/*
 * freed.c: see freed.h. Rows and pairs are found by tables and never removed,
 * so memory grows with distinct stacks and pairs, not with frees.
 *
 *  I1  If there are pairs, a row's sum is the sum of all pairs with its node.
 *
 * Called by the reader's thread.
 */
#include "cli/model/stats/freed.h"

#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "unwind/base/assertion.h"

void freed_sum_add(struct freed_sum *to, const struct freed_sum *more)
{
	to->blocks += more->blocks;
	to->bytes += more->bytes;
	to->lifetime += more->lifetime;
}

static struct freed_row *row_of(struct freed *freed, uint32_t node)
{
	uint32_t at = table_number(&freed->by_node, node, freed->row_count);

	DEBUG_ASSERT(at <= freed->row_count);
	if (at < freed->row_count)
		return &freed->rows[at];
	GROW(freed->rows, freed->row_count, freed->row_capacity);
	freed->rows[at] = (struct freed_row){ .node = node };
	return &freed->rows[freed->row_count++];
}

static struct freed_row *pair_of(struct freed *freed, uint32_t node,
				 uint32_t cost)
{
	uint64_t key = (uint64_t)cost << 32 | node;
	uint32_t at = table_get(&freed->by_pair, key);

	DEBUG_ASSERT(at == TABLE_NONE || (at > 0 && at < freed->pair_count));
	if (at != TABLE_NONE)
		return &freed->pairs[at];
	if (freed->pair_count == 0)
		freed->pair_count = 1;	/* 0 is the end of a list */
	GROW_TO(freed->pairs, freed->pair_capacity, freed->pair_count);
	at = (uint32_t)freed->pair_count++;
	table_set(&freed->by_pair, key, at);
	GROW_TO(freed->first, freed->first_count, cost);
	freed->pairs[at] = (struct freed_row){
		.node = node, .next = freed->first[cost],
	};
	freed->first[cost] = at;
	DEBUG_ASSERT(freed->pairs[at].next < at);
	return &freed->pairs[at];
}

void freed_add(struct freed *freed, uint32_t node, uint32_t cost,
	       const struct freed_sum *sum)
{
	freed_sum_add(&row_of(freed, node)->sum, sum);
	if (cost != FREED_NO_COST)
		freed_sum_add(&pair_of(freed, node, cost)->sum, sum);
}

const struct freed_row *freed_next(const struct freed *freed, uint32_t cost,
				   uint32_t *at)
{
	if (*at != 0)
		*at = freed->pairs[*at].next;
	else if (cost < freed->first_count)
		*at = freed->first[cost];
	DEBUG_ASSERT(*at == 0 || *at < freed->pair_count);
	return *at != 0 ? &freed->pairs[*at] : NULL;
}

#ifdef GNOMON_DEBUG_ASSERTS
bool freed_is_valid(const struct freed *freed)
{
	uint64_t rows = 0, pairs = 0;

	for (size_t i = 0; i < freed->row_count; i++)
		rows += freed->rows[i].sum.blocks;
	for (size_t i = 1; i < freed->pair_count; i++) {
		pairs += freed->pairs[i].sum.blocks;
		if (freed->pairs[i].next >= i)
			return false;
	}
	return freed->pair_count == 0 || rows == pairs; /* I1 */
}
#endif

void freed_free(struct freed *freed)
{
	free(freed->rows);
	free(freed->pairs);
	free(freed->first);
	table_free(&freed->by_node);
	table_free(&freed->by_pair);
	memset(freed, 0, sizeof(*freed));
}
