/*
 * strip_chains.c: see the header.
 *
 * Whether a block is dropped may be decided long after it ended, in any order.
 * So for each dropped block two EXTRAs are noted, at both of its ends: LEAVES
 * where it began, RESUMES where the next block begins. If the neighbour is
 * dropped too, its event is dropped, and the EXTRA noted there is never
 * written.
 *
 *  I1  kept is the number of the chain's blocks that are not dropped. An entry
 *      is free once its chain has ended and no block is kept, or all are
 *      decided.
 *
 * Called by the main thread.
 */
#include "cli/transform/strip_chains.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"

/* A place as a key; places too large for one get no EXTRA. */
#define STREAMS_MAX (1u << 20)
#define POSITIONS_MAX (UINT64_C(1) << 47)	/* 16 apart */
#define NO_KEY UINT64_MAX

static uint64_t key_of(const struct strip_place *place)
{
	if (place->stream >= STREAMS_MAX || place->position >= POSITIONS_MAX)
		return NO_KEY;
	return (uint64_t)place->stream << 43 | place->position >> 4;
}

static void note(struct strip_chains *chains, const struct strip_place *place,
		 const struct strip_note *what)
{
	uint64_t key = key_of(place);
	uint32_t i;

	if (key == NO_KEY)
		return;
	i = table_number(&chains->by_place, key, chains->note_count);
	if (i == chains->note_count) {
		GROW(chains->notes, chains->note_count, chains->note_capacity);
		chains->note_count++;
	}
	chains->notes[i] = *what;
}

const struct strip_note *strip_chains_note(const struct strip_chains *chains,
					   const struct strip_place *place,
					   enum gt_extra what)
{
	uint64_t key = key_of(place);
	uint32_t i = key == NO_KEY ? TABLE_NONE :
		table_get(&chains->by_place, key);

	return i == TABLE_NONE || chains->notes[i].what != what ? NULL :
		&chains->notes[i];
}

/* ---- entries ---- */

static struct strip_chain *chain_at(const struct strip_chains *chains,
				    uint32_t index)
{
	assert(index > 0 && index < chains->count);
	return &chains->list[index];
}

static uint32_t new_chain(struct strip_chains *chains)
{
	uint32_t index = chains->unused;

	if (index != 0) {
		chains->unused = chains->list[index].next;
	} else {
		do
			GROW(chains->list, chains->count, chains->capacity);
		while (chains->count++ == 0);
		index = (uint32_t)chains->count - 1;
	}
	chains->list[index] = (struct strip_chain){
		.number = ++chains->numbers_given,
	};
	return index;
}

static uint32_t *of_block(struct strip_chains *chains, uint32_t number)
{
	GROW_TO(chains->by_block, chains->by_block_capacity, number);
	return &chains->by_block[number];
}

/* Free the entry if the chain has ended and all its blocks are decided. */
static void settle(struct strip_chains *chains, uint32_t index)
{
	struct strip_chain *chain = chain_at(chains, index);

	if (!chain->ended || (chain->kept > 0 && chain->undecided > 0))
		return;		/* I1 */
	chain->chain.length = 0;
	chain->next = chains->unused;
	chains->unused = index;
}

static void count(const struct strip_chain *chain, struct strip_totals *totals)
{
	uint64_t alloc = chain->chain.alloc;

	if (chain->kept == 0 && chain->chain.length > 1)
		strip_totals_chain(totals, &chain->chain,
				   chain->end_stamp > alloc ?
				   chain->end_stamp - alloc : 0);
}

/* ---- blocks ---- */

static uint32_t take(struct strip_chains *chains, uint32_t number,
		     const struct block *block, struct strip_link *link)
{
	uint32_t *of = of_block(chains, number), index = *of;
	struct strip_chain *chain;

	*link = (struct strip_link){ .chain = index, .made = index != 0 };
	*of = 0;
	if (index != 0)
		return index;
	index = link->chain = new_chain(chains);
	chain = chain_at(chains, index);
	chain->kept = 1;
	chain->chain = (struct chain){
		.alloc = block->alloc, .first_size = block->size,
		.last_size = block->size, .last_address = block->address,
		.length = 1, .cost = block->cost,
		.mmapped = block->layout & GT_LAYOUT_MMAPPED,
	};
	return index;
}

uint32_t strip_chains_leave(struct strip_chains *chains, uint32_t number,
			    const struct block *block,
			    const struct trace_event *next,
			    const struct strip_place *place,
			    struct strip_link *link)
{
	uint32_t index = take(chains, number, block, link);
	const struct strip_chain *chain = chain_at(chains, index);
	struct chain after = chain->chain;

	chain_step(&after, next->address, next->size,
		   next->layout & GT_LAYOUT_MMAPPED);
	link->next = *place;
	link->resumes = (struct strip_note){
		.what = GT_EXTRA_CHAIN_RESUMES, .context = after.cost,
		.size = after.first_size,
		.args = { chain->number,
			  chain_gap_counts(after.length - 1, after.moves),
			  next->stamp > after.alloc ?
				next->stamp - after.alloc : 0,
			  after.copied_bytes },
	};
	return index;
}

void strip_chains_end(struct strip_chains *chains, uint32_t number,
		      uint64_t stamp, const struct strip_place *end,
		      struct strip_link *link)
{
	uint32_t *of = of_block(chains, number);
	struct strip_chain *chain;

	*link = (struct strip_link){ .chain = *of, .made = *of != 0,
				     .last = *of != 0 };
	if (*of == 0)
		return;
	chain = chain_at(chains, *of);
	chain->ended = true;
	chain->end_stamp = stamp;
	chain->end = *end;
	*of = 0;
}

void strip_chains_enter(struct strip_chains *chains, uint32_t index,
			uint32_t number, const struct block *block)
{
	struct strip_chain *chain = chain_at(chains, index);

	*of_block(chains, number) = index;
	chain->kept++;
	chain_step(&chain->chain, block->address, block->size,
		   block->layout & GT_LAYOUT_MMAPPED);
}

void strip_chains_lost(struct strip_chains *chains, uint32_t index,
		       uint64_t stamp, struct strip_totals *totals)
{
	struct strip_chain *chain;

	if (index == 0)
		return;
	chain = chain_at(chains, index);
	chain->ended = true;
	chain->end_stamp = stamp;
	chain->end.stream = UINT32_MAX;		/* not at an event */
	count(chain, totals);
	settle(chains, index);
}

/* ---- kept or dropped ---- */

void strip_chains_stay(struct strip_chains *chains,
		       const struct strip_link *link)
{
	if (link->chain != 0)
		settle(chains, link->chain);
}

void strip_chains_wait(struct strip_chains *chains,
		       const struct strip_link *link)
{
	if (link->chain != 0)
		chain_at(chains, link->chain)->undecided++;
}

/* Note the EXTRA for the end of the chain. If no block is kept, drop the one
 * that the trace has. */
static void report_end(struct strip_chains *chains, struct strip_chain *chain,
		       struct strip_marks *marks)
{
	struct strip_note ends = {
		.what = chain->kept > 0 ? GT_EXTRA_CHAIN_ENDS : 0,
		.size = chain->chain.last_size,
		.args = { chain->number,
			  chain_gap_counts(chain->chain.length,
					   chain->chain.moves),
			  0, chain->chain.copied_bytes },
	};

	if (!chain->reported)
		note(chains, &chain->end, &ends);
	else if (chain->kept == 0)
		strip_marks_set(marks, chain->end.stream, chain->end.position,
				STRIP_DROP);
}

void strip_chains_go(struct strip_chains *chains,
		     const struct strip_link *link, bool waited,
		     const struct strip_place *begin,
		     struct strip_totals *totals, struct strip_marks *marks)
{
	struct strip_note leaves = { .what = GT_EXTRA_CHAIN_LEAVES };
	struct strip_chain *chain;

	if (link->chain == 0)
		return;
	chain = chain_at(chains, link->chain);
	assert(chain->kept > 0 && chain->undecided >= waited);
	chain->kept--;
	chain->undecided -= waited;
	leaves.args[0] = chain->number;
	if (link->made && strip_chains_note(chains, begin,
					    GT_EXTRA_CHAIN_RESUMES) == NULL)
		note(chains, begin, &leaves);
	if (link->resumes.what != 0)
		note(chains, &link->next, &link->resumes);
	if (!chain->ended)
		return;
	if (link->last || chain->kept == 0)
		report_end(chains, chain, marks);
	count(chain, totals);
	settle(chains, link->chain);
}

/* ---- EXTRAs of the trace ---- */

static uint32_t take_suspended(struct strip_chains *chains, uint64_t number)
{
	uint32_t index = table_get(&chains->suspended, number);

	if (index == TABLE_NONE || index == 0)
		return 0;
	table_set(&chains->suspended, number, 0);
	return index;
}

void strip_chains_suspend(struct strip_chains *chains, uint64_t number,
			  uint32_t block_number, const struct block *block,
			  struct strip_link *link)
{
	uint32_t index = take(chains, block_number, block, link);
	struct strip_chain *chain = chain_at(chains, index);
	uint32_t before = take_suspended(chains, number);

	if (before != 0) {	/* the trace says it twice */
		chain_at(chains, before)->ended = true;
		settle(chains, before);
	}
	table_set(&chains->suspended, number, index);
	table_set(&chains->numbers, number, chain->number);
}

/* As in core/chains.c. */
static void catch_up(struct chain *chain, const struct chain_gap *gap)
{
	if (chain->length < gap->length)
		chain->length = gap->length;
	chain->moves = gap->moves < chain->length ? gap->moves : chain->length;
	chain->copied_bytes = gap->copied_bytes;
}

uint32_t strip_chains_resume(struct strip_chains *chains,
			     const struct trace_event *gap,
			     const struct trace_event *block)
{
	const struct chain_gap past = chain_gap_of(gap);
	uint32_t index = take_suspended(chains, past.number);
	struct strip_chain *chain;

	if (index == 0) {
		index = new_chain(chains);
		chain_at(chains, index)->chain = (struct chain){
			.alloc = past.age < block->stamp ?
				block->stamp - past.age : 0,
			.first_size = past.size, .cost = gap->context,
		};
	}
	chain = chain_at(chains, index);
	catch_up(&chain->chain, &past);
	chain->chain.last_address = block->address;
	table_set(&chains->numbers, past.number, chain->number);
	return index;
}

void strip_chains_reported(struct strip_chains *chains,
			   const struct trace_event *gap,
			   const struct strip_place *place,
			   struct strip_totals *totals,
			   struct strip_marks *marks)
{
	const struct chain_gap past = chain_gap_of(gap);
	uint32_t index = take_suspended(chains, past.number);
	struct strip_chain *chain;

	if (index == 0)
		return;
	chain = chain_at(chains, index);
	catch_up(&chain->chain, &past);
	chain->chain.last_size = past.size;
	chain->ended = chain->reported = true;
	chain->end_stamp = gap->stamp;
	chain->end = *place;
	if (chain->kept == 0)
		report_end(chains, chain, marks);
	count(chain, totals);
	settle(chains, index);
}

/* ---- the whole ---- */

void strip_chains_forget(struct strip_chains *chains)
{
	chains->count = 0;
	chains->unused = 0;
	if (chains->by_block_capacity > 0)
		memset(chains->by_block, 0, chains->by_block_capacity *
		       sizeof(*chains->by_block));
	table_free(&chains->suspended);
}

uint64_t strip_chains_number(const struct strip_chains *chains,
			     uint64_t number)
{
	uint32_t given = table_get(&chains->numbers, number);

	return given == TABLE_NONE ? 0 : given;
}

void strip_chains_free(struct strip_chains *chains)
{
	free(chains->list);
	free(chains->by_block);
	free(chains->notes);
	table_free(&chains->numbers);
	table_free(&chains->suspended);
	table_free(&chains->by_place);
	memset(chains, 0, sizeof(*chains));
}
