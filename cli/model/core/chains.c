/*
 * chains.c: see chains.h. Chains are entries of a list; free entries are
 * linked. An array by block number says which chain a block belongs to; it
 * grows only up to the largest number that was reallocated.
 *
 *  I1  Every chain with a length is held by exactly one block, by a pending
 *      realloc, or, if suspended, by its number.
 *
 * Called by the reader's thread.
 */
#include "cli/model/core/chains.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "cli/model/core/contexts.h"
#include "unwind/base/assertion.h"

#ifdef GNOMON_DEBUG_ASSERTS
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
		DEBUG_ASSERT(chain < chains->count &&
			     chains->list[chain].length == 0);
		chains->unused = chains->list[chain].cost;
		return chain;
	}
	if (chains->count == 0) {
		GROW(chains->list, chains->count, chains->capacity);
		memset(&chains->list[chains->count++], 0,
		       sizeof(*chains->list));
	}
	DEBUG_ASSERT((chains->count & (chains->count - 1)) ||
		     chains_is_valid(chains));
	GROW(chains->list, chains->count, chains->capacity);
	return (uint32_t)chains->count++;
}

uint32_t chains_leave(struct chains *chains, uint32_t number,
		      const struct block *block)
{
	uint32_t chain = chains_at(chains, number);

	DEBUG_ASSERT(chain == 0 || (chain < chains->count &&
				    chains->list[chain].length > 0));
	if (chain != 0) {
		chains->by_block[number] = 0;
		return chain;
	}
	chain = new_chain(chains);
	chains->list[chain] = (struct chain){
		.alloc = block->alloc,
		.first_size = block->size,
		.last_size = block->size,
		.last_address = block->address,
		.length = 1,
		.cost = block->cost,
		.mmapped = block->layout & GT_LAYOUT_MMAPPED,
	};
	return chain;
}

void chains_enter(struct chains *chains, uint32_t chain, uint32_t number,
		  const struct block *block)
{
	assert(chain != 0 && chain < chains->count);
	assert(chains->list[chain].length > 0);	/* I1 */
	GROW_TO(chains->by_block, chains->block_count, number);
	DEBUG_ASSERT(chains->by_block[number] == 0);	/* I1 */
	chains->by_block[number] = chain;
	chain_step(&chains->list[chain], block->address, block->size,
		   block->layout & GT_LAYOUT_MMAPPED);
	DEBUG_ASSERT(chains->list[chain].length > 1);
}

void chains_forget(struct chains *chains, uint32_t block)
{
	if (block < chains->block_count)
		chains->by_block[block] = 0;
}

static struct chain_figures *figures_of(struct chains *chains, uint32_t cost)
{
	uint32_t i =
		table_number(&chains->by_cost, cost, chains->measure_count);

	DEBUG_ASSERT(i <= chains->measure_count);
	if (i < chains->measure_count)
		return &chains->figures[i];
	GROW(chains->figures, chains->measure_count, chains->measure_capacity);
	memset(&chains->figures[chains->measure_count], 0,
	       sizeof(*chains->figures));
	return &chains->figures[chains->measure_count++];
}

void chains_add(struct chains *chains, uint32_t cost,
		const struct chain_figures *figures)
{
	chain_figures_add(figures_of(chains, cost), figures);
	chain_figures_add(&chains->whole, figures);
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
		.lifetime = stamp > chain->alloc ?
			(double)(stamp - chain->alloc) : 0,
	};

	DEBUG_ASSERT(index < chains->count && chain->length > 0);	/* I1 */
	/* The filter left out its first block; or realloc freed the block and
	 * made no other. */
	if (chain->cost != CONTEXT_NO_COST && chain->length > 1)
		chains_add(chains, chain->cost, &figures);
	if (live)
		return;
	chain->length = 0;
	chain->cost = chains->unused;
	chains->unused = index;
}

/* ---- chains with gaps ---- */

/* Removes and returns the chain suspended under this number; or 0. */
static uint32_t take_suspended(struct chains *chains, uint64_t number)
{
	uint32_t chain = table_get(&chains->suspended, number);

	if (chain == TABLE_NONE || chain == 0)
		return 0;
	DEBUG_ASSERT(chain < chains->count && chains->list[chain].length > 0);
	table_set(&chains->suspended, number, 0);
	return chain;
}

void chains_suspend(struct chains *chains, uint64_t number, uint32_t chain)
{
	DEBUG_ASSERT(chain > 0 && chain < chains->count);
	DEBUG_ASSERT(chains->list[chain].length > 0);
	DEBUG_ASSERT(table_get(&chains->suspended, number) == TABLE_NONE ||
		     table_get(&chains->suspended, number) == 0);
	table_set(&chains->suspended, number, chain);
}

/* Sets what the EXTRA says about the chain so far; its length never
 * decreases. */
static void catch_up(struct chain *chain, const struct chain_gap *gap)
{
	if (chain->length < gap->length)
		chain->length = gap->length;
	chain->moves = gap->moves < chain->length ? gap->moves : chain->length;
	chain->copied_bytes = gap->copied_bytes;
}

uint32_t chains_resume(struct chains *chains, const struct chain_gap *gap,
		       uint64_t stamp, uint64_t address, uint32_t cost)
{
	uint32_t index = take_suspended(chains, gap->number);
	struct chain *chain;

	if (index == 0) {
		index = new_chain(chains);
		chains->list[index] = (struct chain){
			.alloc = gap->age < stamp ? stamp - gap->age : 0,
			.first_size = gap->size,
			.cost = cost,
		};
	}
	chain = &chains->list[index];
	catch_up(chain, gap);
	/* the realloc that made this block has been counted */
	chain->last_address = address;
	return index;
}

uint32_t chains_leave_off(struct chains *chains, const struct chain_gap *gap)
{
	uint32_t chain = take_suspended(chains, gap->number);

	if (chain == 0)
		return 0;
	catch_up(&chains->list[chain], gap);
	chains->list[chain].last_size = gap->size;
	return chain;
}

uint32_t chains_next_suspended(struct chains *chains, uint64_t *at)
{
	struct table *table = &chains->suspended;

	for (; table->slots != NULL && *at <= table->mask; ++*at) {
		struct table_slot *slot = &table->slots[*at];

		if (slot->value != TABLE_NONE && slot->value != 0)
			return take_suspended(chains, slot->key);
	}
	return 0;
}

void chains_note(struct chains *chains, uint32_t lane,
		 const struct trace_event *event)
{
	struct chain_note *note;

	if (chains->note_count == CHAIN_NOTES_MAX)
		return;
	GROW(chains->notes, chains->note_count, chains->note_capacity);
	note = &chains->notes[chains->note_count++];
	note->event = *event;
	memcpy(note->args, event->args, sizeof(note->args));
	note->lane = lane;
}

bool chains_take_note(struct chains *chains, uint32_t lane,
		      struct chain_note *note)
{
	for (size_t i = 0; i < chains->note_count; i++) {
		if (chains->notes[i].lane != lane)
			continue;
		*note = chains->notes[i];
		note->event.args = note->args;
		chains->notes[i] = chains->notes[--chains->note_count];
		return true;
	}
	return false;
}

/* ---- measures ---- */

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
	DEBUG_ASSERT(sum->live <= sum->count && sum->count <= sum->blocks);
	DEBUG_ASSERT(sum->moves <= sum->blocks && sum->longest <= sum->blocks);
}

void chains_of(const struct chains *chains, uint32_t cost,
	       struct chain_figures *figures)
{
	uint32_t i = table_get(&chains->by_cost, cost);

	memset(figures, 0, sizeof(*figures));
	DEBUG_ASSERT(i == TABLE_NONE || i < chains->measure_count);
	if (i != TABLE_NONE)
		*figures = chains->figures[i];
}

void chains_free(struct chains *chains)
{
	free(chains->list);
	free(chains->by_block);
	free(chains->figures);
	free(chains->notes);
	table_free(&chains->by_cost);
	table_free(&chains->suspended);
	memset(chains, 0, sizeof(*chains));
}
