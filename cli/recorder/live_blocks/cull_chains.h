/*
 * cull_chains.h: realloc chains of which some blocks are left out: the records
 * that keep their counts right in the trace (cli/model/core/chain.h). Private
 * to cull.c; the recorder only.
 */
#ifndef GNOMON_CULL_CHAINS_H
#define GNOMON_CULL_CHAINS_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/model/core/blocks.h"
#include "cli/model/core/chain.h"
#include "cli/recorder/base/vector.h"

struct cull;
struct cull_undecided;

struct cull_chain {
	struct chain chain;	/* `cost`: the first block's context */
	uint64_t number;	/* in the trace */
	uint64_t end_tick;
	uint32_t kept;		/* blocks not left out, */
	uint32_t undecided;	/* of them */
	uint32_t ends;		/* slot that records its end, or 0 */
	uint32_t next;		/* of the unused entries */
	bool ended;
};

/* The place of an ended block in its chain. */
struct cull_link {
	uint32_t chain;		/* 0: in no chain */
	bool made;		/* it was made by realloc, */
	bool moved;		/* and realloc made another block of it */
	uint64_t resumes[GT_EXTRA_ARGS];	/* arguments of RESUMES, if
						 * moved */
};

struct cull_chains {
	struct vector list;	/* entry 0 is not used */
	struct vector by_block;	/* chains, by number of a block; 0: none */
	uint32_t count, unused;
	uint64_t numbers;	/* given so far */
};

/* `bytes`: memory budget, of which the chains take a part. */
void cull_chains_init(struct cull_chains *chains, uint64_t bytes);

/* The block has ended. move: by a realloc whose result is the block in this
 * slot (0: none). end: its chain is over. False: no memory, so the block must
 * stay. */
bool cull_chains_move(struct cull *cull, const struct block *block,
		      uint32_t number, uint32_t context, uint32_t slot,
		      struct cull_link *link);
void cull_chains_end(struct cull *cull, uint32_t number, uint64_t tick,
		     struct cull_link *link);

/* Adds the next block of the chain. */
void cull_chains_enter(struct cull *cull, uint32_t chain, uint32_t number,
		       const struct block *block);

/* The chain has no live block any more. */
void cull_chains_lost(struct cull *cull, uint32_t chain, uint64_t tick);

/* defer: the link's block is undecided. settle: it is decided, and stays. stay:
 * it stays, without having been undecided. */
void cull_chains_defer(struct cull *cull, const struct cull_link *link);
void cull_chains_settle(struct cull *cull, const struct cull_link *link);
void cull_chains_stay(struct cull *cull, const struct cull_link *link);

/* Whether the block can be left out: there is memory for the chain's notes. */
bool cull_chains_may_go(struct cull *cull, const struct cull_undecided *entry);

/* The block is left out: adds notes to its slots, before these change. Returns
 * whether the slot of its end now records the end of the chain. */
bool cull_chains_go(struct cull *cull, const struct cull_undecided *entry,
		    bool waited);

/* The slot of a chain's end is about to be written. */
void cull_chains_written(struct cull *cull, uint32_t chain);

/* Ends all chains, at a START or CLEAR. All waiting events were written. */
void cull_chains_forget(struct cull *cull);

#endif
