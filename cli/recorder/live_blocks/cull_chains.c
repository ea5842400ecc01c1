/*
 * cull_chains.c: see cull_chains.h.
 *
 * Whether a block is left out may be decided long after it ended, in any order.
 * So each block that is left out adds notes to the slots of both its ends:
 * LEAVES where realloc made it, RESUMES where realloc made the next block of
 * it. If the neighbour is left out too, the slot becomes a hole, and both notes
 * go. A note is a slot in no list, `more` of the slot before which it is
 * written:
 *
 *	word 0 … 3   arguments
 *	tick         word 2 of the record: context and what
 *	end          word 3: size
 *
 * I1: an entry with a length has not ended, or has an undecided block.
 *
 * The recorder only.
 */
#include "cli/recorder/live_blocks/cull_chains.h"

#include <assert.h>

#include "cli/recorder/live_blocks/cull_queue.h"
#include "cli/trace/format/ring_record.h"
#include "unwind/base/assertion.h"

#define CULL_CHAINS_PART 16	/* fraction of the memory budget */
#define CULL_CHAINS_SLOTS 3	/* that leaving out a block may need */

void cull_chains_init(struct cull_chains *chains, uint64_t bytes)
{
	chains->list.max = bytes / CULL_CHAINS_PART;
	chains->by_block.max = bytes / CULL_CHAINS_PART;
	chains->count = 1;
}

static struct cull_chain *cull_chain(const struct cull *cull, uint32_t number)
{
	DEBUG_ASSERT(number > 0 && number < cull->chains.count);
	return (struct cull_chain *)cull->chains.list.at + number;
}

/* ---- entries ---- */

/* 0: no memory. */
static uint32_t cull_chains_new(struct cull_chains *chains)
{
	uint32_t number = chains->unused;
	struct cull_chain *chain;

	if (number) {
		chain = (struct cull_chain *)chains->list.at + number;
		chains->unused = chain->next;
	} else {
		number = chains->count;
		if (!vector_reach(&chains->list, (number + UINT64_C(1)) *
							sizeof(*chain)))
			return 0;
		chains->count++;
		chain = (struct cull_chain *)chains->list.at + number;
	}
	*chain = (struct cull_chain){ .number = ++chains->numbers };
	return number;
}

static uint32_t cull_chains_at(const struct cull_chains *chains,
			       uint32_t block)
{
	return (block + UINT64_C(1)) * sizeof(uint32_t) >
			       chains->by_block.ready ?
		       0 : ((const uint32_t *)chains->by_block.at)[block];
}

/* False: no memory. */
static bool cull_chains_set(struct cull_chains *chains, uint32_t block,
			    uint32_t chain)
{
	if (!vector_reach(&chains->by_block,
			  (block + UINT64_C(1)) * sizeof(uint32_t)))
		return false;
	((uint32_t *)chains->by_block.at)[block] = chain;
	return true;
}

/* Frees the entry, if the data of the chain cannot change any more (I1). */
static void cull_chains_drop(struct cull *cull, uint32_t number)
{
	struct cull_chain *chain = cull_chain(cull, number);

	if (!chain->ended || (chain->kept && chain->undecided))
		return;
	if (chain->ends)
		cull_slot(cull, chain->ends)->state = CULL_STAYS;
	chain->chain.length = 0;
	chain->next = cull->chains.unused;
	cull->chains.unused = number;
}

/* ---- blocks ---- */

/* Starts a chain with this block. 0: no memory. */
static uint32_t cull_chains_begin(struct cull *cull, const struct block *block,
				  uint32_t context)
{
	uint32_t number = cull_chains_new(&cull->chains);
	struct cull_chain *chain;

	if (!number)
		return 0;
	chain = cull_chain(cull, number);
	chain->kept = 1;
	chain->chain = (struct chain){
		.alloc = block->alloc, .first_size = block->size,
		.last_size = block->size, .last_address = block->address,
		.length = 1, .cost = context,
		.mmapped = block->layout & GT_LAYOUT_MMAPPED,
	};
	return number;
}

bool cull_chains_move(struct cull *cull, const struct block *block,
		      uint32_t number, uint32_t context, uint32_t slot,
		      struct cull_link *link)
{
	uint32_t index = cull_chains_at(&cull->chains, number);
	const struct cull_slot *next = cull_slot(cull, slot);
	const struct cull_chain *chain;
	struct chain after;
	uint64_t size;

	link->made = index != 0;
	if (index)
		cull_chains_set(&cull->chains, number, 0);
	else
		index = cull_chains_begin(cull, block, context);
	link->chain = index;
	if (!index)
		return false;
	link->moved = slot != 0;
	if (!slot)
		return true;
	chain = cull_chain(cull, index);
	after = chain->chain;
	size = gl_size(next->word[2], next->word[3]);
	chain_step(&after, gl_block(next->word[1]), size,
		   gl_layout(next->word[1] >> GL_HEADER_SHIFT, size) &
			   GT_LAYOUT_MMAPPED);
	link->resumes[0] = chain->number;
	link->resumes[1] = chain_gap_counts(after.length - 1, after.moves);
	link->resumes[2] = next->tick > after.alloc ?
				   next->tick - after.alloc : 0;
	link->resumes[3] = after.copied_bytes;
	return true;
}

void cull_chains_end(struct cull *cull, uint32_t number, uint64_t tick,
		     struct cull_link *link)
{
	struct cull_chain *chain;

	link->chain = cull_chains_at(&cull->chains, number);
	if (!link->chain)
		return;
	cull_chains_set(&cull->chains, number, 0);
	link->made = true;
	chain = cull_chain(cull, link->chain);
	chain->ended = true;
	chain->end_tick = tick;
}

void cull_chains_enter(struct cull *cull, uint32_t index, uint32_t number,
		       const struct block *block)
{
	struct cull_chain *chain = cull_chain(cull, index);

	chain->kept++;
	chain_step(&chain->chain, block->address, block->size,
		   block->layout & GT_LAYOUT_MMAPPED);
	/* without memory, treat the chain as ended here */
	if (!cull_chains_set(&cull->chains, number, index))
		cull_chains_lost(cull, index, block->alloc);
}

void cull_chains_lost(struct cull *cull, uint32_t index, uint64_t tick)
{
	struct cull_chain *chain;

	if (!index)
		return;
	chain = cull_chain(cull, index);
	chain->ended = true;
	chain->end_tick = tick;
	cull_chains_drop(cull, index);
}

/* ---- whether they stay ---- */

void cull_chains_defer(struct cull *cull, const struct cull_link *link)
{
	if (link->chain)
		cull_chain(cull, link->chain)->undecided++;
}

void cull_chains_settle(struct cull *cull, const struct cull_link *link)
{
	if (!link->chain)
		return;
	DEBUG_ASSERT(cull_chain(cull, link->chain)->undecided > 0);
	cull_chain(cull, link->chain)->undecided--;
	cull_chains_drop(cull, link->chain);
}

void cull_chains_stay(struct cull *cull, const struct cull_link *link)
{
	if (link->chain)
		cull_chains_drop(cull, link->chain);
}

/* Whether no other block of it is kept, and none will come. */
static bool cull_chains_is_last(const struct cull_chain *chain)
{
	return chain->ended && chain->kept == 1;
}

bool cull_chains_may_go(struct cull *cull, const struct cull_undecided *entry)
{
	const struct cull_chain *chain;

	if (!entry->link.chain)
		return true;
	chain = cull_chain(cull, entry->link.chain);
	if (!cull_room(cull, CULL_CHAINS_SLOTS))
		return false;
	return !cull_chains_is_last(chain) ||
	       cull_totals_reach_chain(&cull->totals, chain->chain.cost);
}

/* Adds a note; cull_chains_may_go has made room. */
static void cull_chains_note(struct cull *cull, uint32_t number,
			     enum gt_extra what, const struct cull_chain *chain,
			     const uint64_t args[GT_EXTRA_ARGS])
{
	struct cull_slot *slot, *more;
	bool resumes = what == GT_EXTRA_CHAIN_RESUMES;
	unsigned i;

	if (!cull_slot(cull, number)->more) {
		uint32_t taken = cull_take(cull);

		cull_slot(cull, number)->more = taken;
	}
	slot = cull_slot(cull, number);
	more = cull_slot(cull, slot->more);
	for (i = 0; i < GT_EXTRA_ARGS; i++)
		more->word[i] = args[i];
	more->tick = (uint64_t)what << 32 | (resumes ? chain->chain.cost : 0);
	more->end = resumes ? chain->chain.first_size : 0;
}

/* Makes the slot record the end of the chain, instead of the end of its last
 * block. */
static void cull_chains_report_end(struct cull *cull, uint32_t index,
				   uint32_t number)
{
	struct cull_chain *chain = cull_chain(cull, index);
	const uint64_t args[GT_EXTRA_ARGS] = {
		chain->number,
		chain_gap_counts(chain->chain.length, chain->chain.moves),
		0, chain->chain.copied_bytes,
	};
	struct cull_slot *slot = cull_slot(cull, number);

	DEBUG_ASSERT(slot->state == CULL_STAYS && !slot->left);
	slot->word[0] = (slot->word[0] & ~(uint64_t)15) | GT_EXTRA;
	slot->word[2] = (uint64_t)GT_EXTRA_CHAIN_ENDS << 32;
	slot->word[3] = chain->chain.last_size;
	slot->state = CULL_CHAIN_ENDS;
	slot->block = index;
	slot->undecided = 0;
	cull_chains_note(cull, number, GT_EXTRA_CHAIN_ENDS, chain, args);
	chain->ends = number;
}

static bool cull_chains_is_realloc(const struct cull *cull, uint32_t slot)
{
	return (cull_slot(cull, slot)->word[0] & 7) == GT_REALLOC_DONE;
}

/* No block was kept: adds the chain to the totals and removes its slot. */
static void cull_chains_gone(struct cull *cull, struct cull_chain *chain)
{
	uint32_t ends = chain->ends;

	cull_totals_chain(&cull->totals, &chain->chain,
			  chain->end_tick > chain->chain.alloc ?
				  chain->end_tick - chain->chain.alloc : 0);
	chain->ends = 0;
	if (!ends)
		return;
	cull_slot(cull, ends)->state = CULL_STAYS;
	cull_remove(cull, ends);
}

bool cull_chains_go(struct cull *cull, const struct cull_undecided *entry,
		    bool waited)
{
	const struct cull_link *link = &entry->link;
	struct cull_chain *chain;
	uint64_t leaves[GT_EXTRA_ARGS] = { 0 };
	bool reports = false;

	if (!link->chain)
		return false;
	chain = cull_chain(cull, link->chain);
	assert(chain->kept > 0 && chain->undecided >= waited);
	chain->kept--;
	chain->undecided -= waited;
	leaves[0] = chain->number;
	if (link->made && cull_chains_is_realloc(cull, entry->begin))
		cull_chains_note(cull, entry->begin, GT_EXTRA_CHAIN_LEAVES,
				 chain, leaves);
	if (link->moved && cull_chains_is_realloc(cull, entry->end))
		cull_chains_note(cull, entry->end, GT_EXTRA_CHAIN_RESUMES,
				 chain, link->resumes);
	if (!link->moved && chain->ended && chain->kept) {
		cull_chains_report_end(cull, link->chain, entry->end);
		reports = true;
	}
	if (chain->ended && !chain->kept)
		cull_chains_gone(cull, chain);
	cull_chains_drop(cull, link->chain);
	return reports;
}

void cull_chains_written(struct cull *cull, uint32_t index)
{
	cull_chain(cull, index)->ends = 0;
}

void cull_chains_forget(struct cull *cull)
{
	struct cull_chains *chains = &cull->chains;
	uint64_t i, n = chains->by_block.ready / sizeof(uint32_t);
	uint32_t number;

	for (i = 0; i < n; i++)
		((uint32_t *)chains->by_block.at)[i] = 0;
	chains->count = 1;
	chains->unused = 0;
	/* after a write error, all events still wait */
	for (i = 0; i < cull->undecided_count; i++)
		cull_undecided(cull, (uint32_t)i)->link.chain = 0;
	for (number = cull->first; number;
	     number = cull_slot(cull, number)->next)
		if (cull_slot(cull, number)->state == CULL_CHAIN_ENDS)
			cull_slot(cull, number)->state = CULL_STAYS;
	edges_forget_chains(&cull->table->edges);
}
