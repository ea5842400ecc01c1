/*
 * strip_chains.h: realloc chains of which some blocks are dropped: which
 * EXTRA events about them (core/chain.h) the result needs, and where.
 */
#ifndef GNOMON_STRIP_CHAINS_H
#define GNOMON_STRIP_CHAINS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "cli/base/table.h"
#include "cli/model/core/blocks.h"
#include "cli/model/core/chain.h"
#include "cli/transform/strip_marks.h"
#include "cli/transform/strip_totals.h"

/* Position of an event: strip_marks_position. */
struct strip_place {
	uint32_t stream;
	uint64_t position;
};

/* An EXTRA to be inserted before an event; ENDS: instead of the event. */
struct strip_note {
	uint64_t size;
	uint64_t args[GT_EXTRA_ARGS];
	uint32_t context;
	uint32_t what;		/* enum gt_extra; 0: no longer needed */
};

/* An EXTRA of the trace about a chain, kept until the event that it is about:
 * the reader's own copy lasts only as long as the chunk. */
struct strip_gap {
	struct trace_event event;	/* its args: by strip_gap_event */
	uint64_t args[GT_EXTRA_ARGS];
	bool there;
};

static inline void strip_gap_keep(struct strip_gap *gap,
				  const struct trace_event *event)
{
	gap->event = *event;
	memcpy(gap->args, event->args, sizeof(gap->args));
	gap->there = true;
}

/* Valid as long as the gap stays where it is. */
static inline const struct trace_event *strip_gap_event(struct strip_gap *gap)
{
	gap->event.args = gap->args;
	return &gap->event;
}

struct strip_chain {
	struct chain chain;	/* its cost is the first block's context */
	uint64_t end_stamp;
	struct strip_place end;	/* where it ended */
	uint32_t number;	/* of the chain in the result */
	uint32_t kept;		/* blocks in the trace that are kept or
				 * undecided, */
	uint32_t undecided;	/* of these */
	uint32_t next;		/* in the list of free entries */
	bool ended;
	bool reported;		/* ended by the trace's ENDS */
};

/* The relation of an ended block to its chain. */
struct strip_link {
	uint32_t chain;		/* 0: none */
	bool made;		/* made by a realloc in the trace */
	bool last;		/* the last block of the chain */
	struct strip_place next;	/* of the event that made the next
					 * block, */
	struct strip_note resumes;	/* and the EXTRA for it */
};

struct strip_chains {
	struct strip_chain *list;	/* 0 is not used */
	size_t count, capacity;
	uint32_t unused;	/* first free entry, 0 */
	uint32_t *by_block;	/* chains, by number of a block; 0: none */
	size_t by_block_capacity;
	uint32_t numbers_given;
	struct table numbers;	/* number in the trace -> number in the
				 * result */
	struct table suspended;	/* number in the trace -> chain, or 0 */
	struct table by_place;	/* -> notes */
	struct strip_note *notes;
	size_t note_count, note_capacity;
};

/* A realloc at `place` moves the block into the one of `next`. Returns the
 * chain. */
uint32_t strip_chains_leave(struct strip_chains *chains, uint32_t number,
			    const struct block *block,
			    const struct trace_event *next,
			    const struct strip_place *place,
			    struct strip_link *link);
/* The block ends by the event at `end`; no realloc continues it. */
void strip_chains_end(struct strip_chains *chains, uint32_t number,
		      uint64_t stamp, const struct strip_place *end,
		      struct strip_link *link);
/* The block that continues the chain. */
void strip_chains_enter(struct strip_chains *chains, uint32_t chain,
			uint32_t number, const struct block *block);
/* The chain has no more blocks. */
void strip_chains_lost(struct strip_chains *chains, uint32_t chain,
		       uint64_t stamp, struct strip_totals *totals);

/* The link's block is kept; it is undecided; it is dropped, where `begin` is
 * its allocation. */
void strip_chains_stay(struct strip_chains *chains,
		       const struct strip_link *link);
void strip_chains_wait(struct strip_chains *chains,
		       const struct strip_link *link);
void strip_chains_go(struct strip_chains *chains,
		     const struct strip_link *link, bool waited,
		     const struct strip_place *begin,
		     struct strip_totals *totals, struct strip_marks *marks);

/* EXTRAs of the trace itself, from an earlier strip: the block's chain is
 * suspended; it is resumed by the block of this event; it has ended. */
void strip_chains_suspend(struct strip_chains *chains, uint64_t number,
			  uint32_t block_number, const struct block *block,
			  struct strip_link *link);
uint32_t strip_chains_resume(struct strip_chains *chains,
			     const struct trace_event *gap,
			     const struct trace_event *block);
void strip_chains_reported(struct strip_chains *chains,
			   const struct trace_event *gap,
			   const struct strip_place *place,
			   struct strip_totals *totals,
			   struct strip_marks *marks);

/* All chains end: a START or CLEAR. */
void strip_chains_forget(struct strip_chains *chains);

/* ---- when all was read ---- */

/* The EXTRA of this kind for an event, or NULL. */
const struct strip_note *strip_chains_note(const struct strip_chains *chains,
					   const struct strip_place *place,
					   enum gt_extra what);
/* The number of a chain in the result, by its number in the trace; 0: none. */
uint64_t strip_chains_number(const struct strip_chains *chains,
			     uint64_t number);
void strip_chains_free(struct strip_chains *chains);

#endif
