/*
 * chains.h: realloc chains. A *chain* is a block that was reallocated, with
 * the blocks that realloc made of it. It ends when its last block is freed. It
 * belongs to the context that allocated its first block. Blocks that were never
 * reallocated are in no chain and cost nothing here.
 *
 * A chain is *suspended* while the trace does not have its next block, and
 * resumed by the next block that the trace has (chain.h).
 */
#ifndef GNOMON_CHAINS_H
#define GNOMON_CHAINS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/base/table.h"
#include "cli/model/core/blocks.h"
#include "cli/model/core/chain.h"

/* Measures of the chains that began in a context; sums unless stated
 * otherwise. */
struct chain_figures {
	uint64_t count;
	uint64_t live;		/* of `count`: not ended */
	uint64_t blocks;	/* in all these chains */
	uint64_t longest;	/* length of the longest */
	uint64_t first_bytes;	/* sizes of the first blocks, */
	uint64_t last_bytes;	/* and of the last ones */
	uint64_t largest;	/* size of the largest last block */
	uint64_t moves;		/* reallocs that moved the block, */
	uint64_t copied_bytes;	/* and the bytes copied for that */
	double lifetime;	/* ticks from the first block to the end, or to
				 * the end of the recording if live */
};

/* An EXTRA about the next event of its lane, which has not come yet. */
struct chain_note {
	struct trace_event event;
	uint64_t args[GT_EXTRA_ARGS];
	uint32_t lane;
};
#define CHAIN_NOTES_MAX 256	/* lanes that may have one; a reader passes many
				 * events of one lane at a time */

struct chains {
	struct chain *list;	/* 0 is not used */
	size_t count, capacity;
	uint32_t unused;	/* first free entry; 0: none */
	uint32_t *by_block;	/* chain by number of its block; 0: none */
	size_t block_count;
	struct table by_cost;	/* -> measures */
	struct chain_figures *figures;
	size_t measure_count, measure_capacity;
	struct chain_figures whole;
	struct table suspended;		/* number in the trace -> chain; 0: it
					 * was resumed, or has ended */
	struct chain_note *notes;
	size_t note_count, note_capacity;
};

/* The measures of a context; zeros if none of its blocks was ever
 * reallocated. */
void chains_of(const struct chains *chains, uint32_t cost,
	       struct chain_figures *figures);
void chain_figures_add(struct chain_figures *sum,
		       const struct chain_figures *more);
/* ---- for readers of a trace ---- */

/* The chain with this last block, or 0. */
static inline uint32_t chains_at(const struct chains *chains, uint32_t block)
{
	return block < chains->block_count ? chains->by_block[block] : 0;
}
/* Returns the chain of a block that is about to be replaced; makes one if
 * needed. */
uint32_t chains_leave(struct chains *chains, uint32_t number,
		      const struct block *block);
/* The block that replaces it becomes the last of the chain. */
void chains_enter(struct chains *chains, uint32_t chain, uint32_t number,
		  const struct block *block);
/* Count the chain; unless `live` is set, it is removed. */
void chains_end(struct chains *chains, uint32_t chain, uint64_t stamp,
		bool live);
/* The next blocks of the chain are missing in the trace. */
void chains_suspend(struct chains *chains, uint64_t number, uint32_t chain);
/* Returns the chain that the next block continues: the suspended chain, or a
 * new one whose first block belongs to `cost`. The caller enters the block. */
uint32_t chains_resume(struct chains *chains, const struct chain_gap *gap,
		       uint64_t stamp, uint64_t address, uint32_t cost);
/* No more blocks of the chain will come. Returns the chain, which the caller
 * has to end, or 0. */
uint32_t chains_leave_off(struct chains *chains, const struct chain_gap *gap);
/* Iterates over suspended chains; *at is 0 at first. 0: no more. */
uint32_t chains_next_suspended(struct chains *chains, uint64_t *at);
/* Keep an EXTRA for the next event of its lane; take it out again. False: there
 * is none. */
void chains_note(struct chains *chains, uint32_t lane,
		 const struct trace_event *event);
bool chains_take_note(struct chains *chains, uint32_t lane,
		      struct chain_note *note);
/* Add chains that have no block in the trace. */
void chains_add(struct chains *chains, uint32_t cost,
		const struct chain_figures *figures);
/* The last block of a chain was freed. */
void chains_forget(struct chains *chains, uint32_t block);
void chains_free(struct chains *chains);

/* Every entry is free or has a length; no free entry belongs to a block (I1).
 * With GNOMON_DEBUG_ASSERTS. */
bool chains_is_valid(const struct chains *chains);

#endif
