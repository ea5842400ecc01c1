/*
 * chains.h: what realloc made of blocks. A *chain* is a block that was
 * reallocated, and what became of it: it ends when its last block is freed.
 * It belongs to the context that allocated its first block. Blocks that were
 * never reallocated are in no chain and cost nothing here.
 *
 * A chain is *suspended* where the trace does not have its next block, and
 * resumed by the next one that it has (chain.h).
 */
#ifndef GNOMON_CHAINS_H
#define GNOMON_CHAINS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/base/table.h"
#include "cli/model/core/blocks.h"
#include "cli/model/core/chain.h"

/* Of the chains that began in a context; sums where nothing else is said. */
struct chain_figures {
	uint64_t count;
	uint64_t live;		/* of them, not ended */
	uint64_t blocks;	/* lengths */
	uint64_t longest;	/* length of the longest */
	uint64_t first_bytes;	/* sizes of the first blocks, */
	uint64_t last_bytes;	/* and of the last ones */
	uint64_t largest;	/* size of the largest last block */
	uint64_t moves;		/* steps that made a block at another place, */
	uint64_t copied_bytes;	/* and what had to be copied there */
	double lifetime;	/* ticks from the first block to the end; live
				 * ones until the end of the recording */
};

/* An EXTRA whose event is yet to come: the next one of its lane. */
struct chain_note {
	struct trace_event event;
	uint64_t args[GT_EXTRA_ARGS];
	uint32_t lane;
};
#define CHAIN_NOTES_MAX 256	/* lanes that may have one; a reader hands out
				 * events of one lane many at a time */

struct chains {
	struct chain *list;	/* 0 is not used */
	size_t count, capacity;
	uint32_t unused;	/* first free entry; 0: none */
	uint32_t *by_block;	/* numbers of blocks -> chains; 0: none */
	size_t block_count;
	struct table by_cost;	/* -> figures */
	struct chain_figures *figures;
	size_t figure_count, figure_capacity;
	struct chain_figures whole;
	struct table suspended;		/* number in the trace -> chain; 0: it
					 * was resumed, or has ended */
	struct chain_note *notes;
	size_t note_count, note_capacity;
};

/* Of a context; zeros if none of its blocks was ever reallocated. */
void chains_of(const struct chains *chains, uint32_t cost,
	       struct chain_figures *figures);
void chain_figures_add(struct chain_figures *sum,
		       const struct chain_figures *more);
/* ---- for who reads ---- */

/* The chain whose last block this is, or 0. */
static inline uint32_t chains_at(const struct chains *chains, uint32_t block)
{
	return block < chains->block_count ? chains->by_block[block] : 0;
}
/* The block of this number is about to be replaced: the chain that goes on. */
uint32_t chains_leave(struct chains *chains, uint32_t number,
		      const struct block *block);
/* The block that replaces it. */
void chains_enter(struct chains *chains, uint32_t chain, uint32_t number,
		  const struct block *block);
/* Count the chain; it is no more unless `live` is set. */
void chains_end(struct chains *chains, uint32_t chain, uint64_t stamp,
		bool live);
/* The trace does not have the next blocks of the chain. */
void chains_suspend(struct chains *chains, uint64_t number, uint32_t chain);
/* It has this one, which is to be entered: the suspended chain, or a new one
 * whose first block belongs to `cost`. */
uint32_t chains_resume(struct chains *chains, const struct chain_gap *gap,
		       uint64_t stamp, uint64_t address, uint32_t cost);
/* It will have none any more: the chain, to be ended, or 0. */
uint32_t chains_leave_off(struct chains *chains, const struct chain_gap *gap);
/* Suspended chains, one after the other; *at is 0 at first. 0: no more. */
uint32_t chains_next_suspended(struct chains *chains, uint64_t *at);
/* Keep an EXTRA for the next event of its lane; take it out. False: there is
 * none. */
void chains_note(struct chains *chains, uint32_t lane,
		 const struct trace_event *event);
bool chains_take_note(struct chains *chains, uint32_t lane,
		      struct chain_note *note);
/* Chains of which the trace has no block. */
void chains_add(struct chains *chains, uint32_t cost,
		const struct chain_figures *figures);
/* The last block is freed. */
void chains_forget(struct chains *chains, uint32_t block);
void chains_free(struct chains *chains);

/* Every entry is free, or has a length; no block's is free (I1). With
 * GNOMON_CLAIMS. */
bool chains_is_valid(const struct chains *chains);

#endif
