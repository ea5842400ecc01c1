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

/* Of the chains that began in a context; sums where nothing else is said. */
struct chain_figures {
	uint64_t count;
	uint64_t live;		/* of them, not ended */
	uint64_t blocks;	/* lengths */
	uint64_t longest;	/* length of the longest */
	uint64_t first_bytes;	/* sizes of the first blocks, */
	uint64_t last_bytes;	/* and of the last ones */
	uint64_t largest;	/* size of the largest last block */
	double lifetime;	/* ticks from the first block to the end; live
				 * ones until the end of the recording */
};

/* A chain that has not ended. */
struct chain {
	uint64_t birth;		/* stamp */
	uint64_t first_size;
	uint64_t last_size;
	uint64_t length;	/* blocks so far */
	uint32_t cost;		/* of the first block; in a free entry the
				 * next free one */
	uint32_t block;		/* which one holds it, for the reader; 0 in a
				 * free entry */
};

struct chains {
	struct chain *list;	/* 0 is not used */
	size_t count, capacity;
	uint32_t unused;	/* first free entry */
	struct table by_cost;	/* -> figures */
	struct chain_figures *figures;
	uint32_t *costs;	/* whose they are */
	size_t figure_count, figure_capacity, cost_capacity;
	struct chain_figures whole;
};

struct model;

/* Of a context; zeros if none of its blocks was ever reallocated. */
void chains_of(const struct chains *chains, uint32_t cost,
	       struct chain_figures *figures);
void chain_figures_add(struct chain_figures *sum,
		       const struct chain_figures *more);
void chains_free(struct chains *chains);

#endif
