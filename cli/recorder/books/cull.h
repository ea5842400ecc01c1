/*
 * cull.h: blocks that lived shortly are left out of the trace; their totals
 * are kept (--cull). The writer only.
 */
#ifndef GNOMON_CULL_H
#define GNOMON_CULL_H

#include "cli/recorder/books/cull_chains.h"
#include "cli/recorder/books/cull_totals.h"
#include "cli/recorder/feed.h"
#include "cli/recorder/books/ledger.h"

/* What a waiting event is. */
enum cull_state {
	CULL_STAYS,
	CULL_LIVE,		/* it began a block that lives */
	CULL_UNDECIDED,		/* … that has ended */
	CULL_CHAIN_ENDS,	/* it tells that a chain has ended, of which
				 * blocks are in doubt */
	CULL_HOLE		/* allocations that were left out here */
};

/* An event that waits. */
struct cull_slot {
	uint64_t word[4];	/* of its record; of a hole: 3, how many */
	uint64_t tick;
	uint64_t end;		/* position behind it in its ring */
	uint64_t serial;	/* by order */
	uint32_t next, previous;	/* of all, oldest first; 0: none */
	uint32_t ring_next, ring_previous;
	uint32_t ring;
	uint32_t block;		/* CULL_LIVE: number of the ledger's block;
				 * CULL_UNDECIDED: index of the doubt;
				 * CULL_CHAIN_ENDS: the chain */
	uint32_t doubt;		/* index + 1 of one that this event ends */
	uint32_t more;		/* slot of words 4 … 7, or of a note on the
				 * block's chain (cull_chains.c); 0: none */
	uint8_t state;
	bool left;		/* behind it one allocation was left out */
};

/* A block that ended soon, but was live at the highest peak so far. */
struct cull_doubt {
	struct cull_block block;
	uint32_t begin;		/* slots: of its allocation, */
	uint32_t moves;		/* of the REALLOC_BEGIN, 0, */
	uint32_t end;		/* of what ended it */
	struct cull_link link;
};

struct cull_ring {
	uint32_t first, last;	/* slots */
	uint64_t written;	/* position that the trace has reached */
};

struct cull {
	struct feed *feed;
	struct ledger *ledger;
	struct cull_totals totals;
	struct cull_chains chains;
	struct grown slots, doubts;
	struct cull_ring *rings;	/* GL_RINGS_MAX of them */
	order_word *records;		/* of a chunk */
	uint64_t age_ns;	/* blocks that live so long stay */
	uint64_t age;		/* in ticks */
	uint32_t most;		/* events that may wait */
	uint32_t used, unused;	/* slots; the first of those given back */
	uint32_t fresh;		/* slots that were ever used, 0 included */
	uint32_t first, last;
	uint32_t doubt_count;
	uint64_t serial;
	uint64_t peak_serial;	/* of the allocation that made the peak */
	/* events that came out of order: up to this serial none is older */
	uint64_t odd_serial, odd_tick, newest;
	uint64_t told_ns;	/* when totals were written last */
};

/* `bytes`: that totals may take, about. 0 or -ENOMEM. Sets the ledger's tap. */
int cull_init(struct cull *cull, struct feed *feed, struct ledger *ledger,
	      uint64_t bytes);

/* An event: its ring, the position behind it, its stamp, its record. Returns
 * the slot that it waits in. */
uint32_t cull_put(struct cull *cull, uint32_t ring, uint64_t end,
		  uint64_t tick, const uint64_t *word);

/* Writes what has waited long enough; totals now and then. */
void cull_look(struct cull *cull, uint64_t now_ns);

/* Writes what waits of a ring, whose positions begin anew then; or all. */
void cull_flush_ring(struct cull *cull, uint32_t ring);
void cull_flush(struct cull *cull);

/* Totals up to now, and what is known of the whole run. */
void cull_tell(struct cull *cull);

/* No event that waits has an older stamp. */
uint64_t cull_oldest(const struct cull *cull);

#endif
