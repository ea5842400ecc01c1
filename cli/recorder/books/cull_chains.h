/*
 * cull_chains.h: chains of reallocs whose blocks are not all written: what is
 * to be told of them in the trace (cli/model/core/chain.h). Private to cull.c;
 * the writer only.
 */
#ifndef GNOMON_CULL_CHAINS_H
#define GNOMON_CULL_CHAINS_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/model/core/blocks.h"
#include "cli/model/core/chain.h"
#include "cli/recorder/base/grown.h"

struct cull;
struct cull_doubt;

struct cull_chain {
	struct chain chain;	/* its cost is the first block's context */
	uint64_t number;	/* in the trace */
	uint64_t end_tick;
	uint32_t kept;		/* blocks that were not left out, */
	uint32_t doubts;	/* of them in doubt */
	uint32_t ends;		/* slot that tells that it has ended, 0 */
	uint32_t next;		/* of the unused entries */
	bool ended;
};

/* What a block that ended has to do with its chain. */
struct cull_link {
	uint32_t chain;		/* 0: nothing */
	bool made;		/* it was made by realloc, */
	bool moved;		/* and what came of it goes on */
	uint64_t resumes[GT_EXTRA_ARGS];	/* of RESUMES, if moved */
};

struct cull_chains {
	struct grown list;	/* entry 0 is not used */
	struct grown by_block;	/* chains, by number of a block; 0: none */
	uint32_t count, unused;
	uint64_t numbers;	/* given so far */
};

/* `bytes`: that all may take a part of. */
void cull_chains_init(struct cull_chains *chains, uint64_t bytes);

/* The block has ended: it was moved to what the event in this slot (0: none)
 * makes, or its chain is over. False: no memory, so it has to stay. */
bool cull_chains_move(struct cull *cull, const struct block *block,
		      uint32_t number, uint32_t context, uint32_t slot,
		      struct cull_link *link);
void cull_chains_end(struct cull *cull, uint32_t number, uint64_t tick,
		     struct cull_link *link);

/* The block that goes on with the chain. */
void cull_chains_enter(struct cull *cull, uint32_t chain, uint32_t number,
		       const struct block *block);

/* It has no block any more. */
void cull_chains_lost(struct cull *cull, uint32_t chain, uint64_t tick);

/* The link's block is in doubt; it is not any more, and stays; it stays. */
void cull_chains_hesitate(struct cull *cull, const struct cull_link *link);
void cull_chains_settle(struct cull *cull, const struct cull_link *link);
void cull_chains_stay(struct cull *cull, const struct cull_link *link);

/* Whether the block can be left out: there is memory for what is to be told. */
bool cull_chains_may_go(struct cull *cull, const struct cull_doubt *doubt);

/* It is left out: tells that at its slots, before they are changed. Returns
 * whether the slot of its end has become what tells of the chain's. */
bool cull_chains_go(struct cull *cull, const struct cull_doubt *doubt,
		    bool waited);

/* The slot of a chain's end is about to be written. */
void cull_chains_written(struct cull *cull, uint32_t chain);

/* No chain goes on: a START or CLEAR. All that waited was written. */
void cull_chains_forget(struct cull *cull);

#endif
