/*
 * chains.h: what realloc made of blocks. A *chain* is a block that was
 * reallocated, and what became of it: it ends when its last block is freed.
 * It belongs to the context that allocated its first block. Blocks that were
 * never reallocated are in no chain and cost nothing here.
 */
#ifndef GNOMON_CHAINS_H
#define GNOMON_CHAINS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/base/table.h"
#include "cli/model/core/blocks.h"

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

/* A chain that has not ended. */
struct chain {
	uint64_t birth;		/* stamp */
	uint64_t first_size;
	uint64_t last_size;
	uint64_t last_address;
	uint64_t moves;
	uint64_t copied_bytes;
	uint64_t length;	/* blocks so far; 0: a free entry */
	uint32_t cost;		/* of the first block, or CONTEXT_NO_COST; in a
				 * free entry the next free one */
	uint32_t pending;	/* for selection.c */
	bool mmapped;		/* the last block has a mapping of its own */
};

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
/* The last block is freed. */
void chains_forget(struct chains *chains, uint32_t block);
void chains_free(struct chains *chains);

/* Every entry is free, or has a length; no block's is free (I1). With
 * GNOMON_CLAIMS. */
bool chains_is_valid(const struct chains *chains);

#endif
