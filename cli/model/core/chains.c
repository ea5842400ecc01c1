/*
 * chains.c: see chains.h. Chains are entries of a list, free ones are linked;
 * which one a block belongs to is in an array by the block's number, that
 * grows as far as blocks were ever reallocated.
 *
 *  I1  Every chain with a length is held by exactly one block, or by a
 *      realloc that has not ended.
 *
 * Called by the reader's thread.
 */
#include "cli/model/core/chains.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "cli/model/core/contexts.h"
#include "unwind/claim.h"

#ifdef GNOMON_CLAIMS
bool chains_is_valid(const struct chains *chains)
{
	size_t held = 0, unused = 0, used = 0;

	for (uint32_t i = chains->unused; i != 0 && unused < chains->count;
	     i = chains->list[i].cost, unused++)
		if (i >= chains->count || chains->list[i].length != 0)
			return false;
	for (size_t i = 1; i < chains->count; i++)
		used += chains->list[i].length > 0;
	for (size_t i = 0; i < chains->block_count; i++) {
		uint32_t chain = chains->by_block[i];

		held += chain != 0;
		if (chain != 0 && (chain >= chains->count ||
				   chains->list[chain].length == 0))
			return false;	/* I1 */
	}
	return held <= used &&
	       (chains->count == 0 || used + unused + 1 == chains->count);
}
#endif

static uint32_t new_chain(struct chains *chains)
{
	uint32_t chain = chains->unused;

	if (chain != 0) {
		CLAIM_FULL(chain < chains->count &&
			   chains->list[chain].length == 0);
		chains->unused = chains->list[chain].cost;
		return chain;
	}
	if (chains->count == 0) {
		GROW(chains->list, chains->count, chains->capacity);
		memset(&chains->list[chains->count++], 0,
		       sizeof(*chains->list));
	}
	CLAIM_FULL((chains->count & (chains->count - 1)) ||
		   chains_is_valid(chains));
	GROW(chains->list, chains->count, chains->capacity);
	return (uint32_t)chains->count++;
}

/* What the chain is at by this block. */
static void stand_at(struct chain *chain, const struct block *block)
{
	chain->last_size = block->size;
	chain->last_address = block->address;
	chain->mmapped = block->layout & GT_LAYOUT_MMAPPED;
}

uint32_t chains_leave(struct chains *chains, uint32_t number,
		      const struct block *block)
{
	uint32_t chain = chains_at(chains, number);

	CLAIM_FULL(chain == 0 || (chain < chains->count &&
				  chains->list[chain].length > 0));
	if (chain != 0) {
		chains->by_block[number] = 0;
		return chain;
	}
	chain = new_chain(chains);
	chains->list[chain] = (struct chain){
		.birth = block->birth,
		.first_size = block->size,
		.length = 1,
		.cost = block->cost,
	};
	stand_at(&chains->list[chain], block);
	return chain;
}

/* A block in a mapping of its own stays in it: its pages are moved, not what
 * is in them. */
static void count_move(struct chain *chain, const struct block *block)
{
	if (block->address == chain->last_address)
		return;
	chain->moves++;
	if (!chain->mmapped || !(block->layout & GT_LAYOUT_MMAPPED))
		chain->copied_bytes += block->size < chain->last_size ?
			block->size : chain->last_size;
}

void chains_enter(struct chains *chains, uint32_t chain, uint32_t number,
		  const struct block *block)
{
	assert(chain != 0 && chain < chains->count);
	assert(chains->list[chain].length > 0);	/* I1 */
	if (number >= chains->block_count) {
		size_t count = (size_t)number * 2 + 64;

		chains->by_block = grow_resize(chains->by_block, count,
					       sizeof(*chains->by_block));
		memset(chains->by_block + chains->block_count, 0,
		       (count - chains->block_count) *
		       sizeof(*chains->by_block));
		chains->block_count = count;
	}
	CLAIM_FULL(chains->by_block[number] == 0);	/* I1 */
	chains->by_block[number] = chain;
	chains->list[chain].length++;
	CLAIM_FULL(chains->list[chain].length > 1);
	count_move(&chains->list[chain], block);
	stand_at(&chains->list[chain], block);
}

void chains_forget(struct chains *chains, uint32_t block)
{
	if (block < chains->block_count)
		chains->by_block[block] = 0;
}

static struct chain_figures *figures_of(struct chains *chains, uint32_t cost)
{
	uint32_t i = table_get(&chains->by_cost, cost);

	CLAIM_FULL(i == TABLE_NONE || i < chains->figure_count);
	if (i != TABLE_NONE)
		return &chains->figures[i];
	GROW(chains->figures, chains->figure_count, chains->figure_capacity);
	table_set(&chains->by_cost, cost, (uint32_t)chains->figure_count);
	memset(&chains->figures[chains->figure_count], 0,
	       sizeof(*chains->figures));
	return &chains->figures[chains->figure_count++];
}

void chains_end(struct chains *chains, uint32_t index, uint64_t stamp,
		bool live)
{
	struct chain *chain = &chains->list[index];
	const struct chain_figures figures = {
		.count = 1,
		.live = live,
		.blocks = chain->length,
		.longest = chain->length,
		.first_bytes = chain->first_size,
		.last_bytes = chain->last_size,
		.largest = chain->last_size,
		.moves = chain->moves,
		.copied_bytes = chain->copied_bytes,
		.lifetime = stamp > chain->birth ?
			(double)(stamp - chain->birth) : 0,
	};

	CLAIM_FULL(index < chains->count && chain->length > 0);	/* I1 */
	/* The filter left its first block out; or realloc freed the block
	 * and made no other. */
	if (chain->cost != CONTEXT_NO_COST && chain->length > 1) {
		chain_figures_add(figures_of(chains, chain->cost), &figures);
		chain_figures_add(&chains->whole, &figures);
	}
	if (live)
		return;
	chain->length = 0;
	chain->cost = chains->unused;
	chains->unused = index;
}

void chain_figures_add(struct chain_figures *sum,
		       const struct chain_figures *more)
{
	sum->count += more->count;
	sum->live += more->live;
	sum->blocks += more->blocks;
	sum->first_bytes += more->first_bytes;
	sum->last_bytes += more->last_bytes;
	sum->lifetime += more->lifetime;
	sum->moves += more->moves;
	sum->copied_bytes += more->copied_bytes;
	if (more->longest > sum->longest)
		sum->longest = more->longest;
	if (more->largest > sum->largest)
		sum->largest = more->largest;
	CLAIM_FULL(sum->live <= sum->count && sum->count <= sum->blocks);
	CLAIM_FULL(sum->moves <= sum->blocks && sum->longest <= sum->blocks);
}

void chains_of(const struct chains *chains, uint32_t cost,
	       struct chain_figures *figures)
{
	uint32_t i = table_get(&chains->by_cost, cost);

	memset(figures, 0, sizeof(*figures));
	CLAIM_FULL(i == TABLE_NONE || i < chains->figure_count);
	if (i != TABLE_NONE)
		*figures = chains->figures[i];
}

void chains_free(struct chains *chains)
{
	free(chains->list);
	free(chains->by_block);
	free(chains->figures);
	table_free(&chains->by_cost);
	memset(chains, 0, sizeof(*chains));
}
