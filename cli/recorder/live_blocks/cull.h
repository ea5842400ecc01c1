/*
 * cull.h: leaves short-lived blocks out of the trace and keeps their totals
 * (--cull). The recorder only.
 */
#ifndef GNOMON_CULL_H
#define GNOMON_CULL_H

#include "cli/recorder/live_blocks/cull_chains.h"
#include "cli/recorder/live_blocks/cull_totals.h"
#include "cli/recorder/ring_drain.h"
#include "cli/recorder/live_blocks/block_table.h"

/* State of a waiting event. */
enum cull_state {
	CULL_STAYS,
	CULL_LIVE,		/* allocation of a live block */
	CULL_UNDECIDED,		/* allocation of a block that has ended */
	CULL_CHAIN_ENDS,	/* end of a realloc chain with undecided
				 * blocks */
	CULL_HOLE		/* count of allocations left out here */
};

/* An event that waits. */
struct cull_slot {
	uint64_t word[4];	/* of its record; of a hole: word 3 is the
				 * count */
	uint64_t tick;
	uint64_t end;		/* position after it in its ring */
	uint64_t serial;	/* in order */
	uint32_t next, previous;	/* list of all, oldest first; 0: none */
	uint32_t ring_next, ring_previous;
	uint32_t ring;
	uint32_t block;		/* CULL_LIVE: number in the block table;
				 * CULL_UNDECIDED: index in `undecided`;
				 * CULL_CHAIN_ENDS: the chain */
	uint32_t undecided;	/* index + 1 of the undecided block that this
				 * event ends */
	uint32_t more;		/* slot with words 4 … 7, or with a note on the
				 * block's chain (cull_chains.c); 0: none */
	uint8_t state;
	bool left;		/* one allocation after it was left out */
};

/* A short-lived block that was live at the highest peak so far. */
struct cull_undecided {
	struct cull_block block;
	uint32_t begin;		/* slots: of its allocation, */
	uint32_t moves;		/* of the REALLOC_BEGIN, or 0, */
	uint32_t end;		/* of the event that ended it */
	struct cull_link link;
};

struct cull_ring {
	uint32_t first, last;	/* slots */
	uint64_t written;	/* position that the trace has reached */
};

struct cull {
	struct ring_drain *drain;
	struct block_table *table;
	struct cull_totals totals;
	struct cull_chains chains;
	struct vector slots, undecided;
	struct cull_ring *rings;	/* GL_RINGS_MAX of them */
	order_word *records;		/* of a chunk */
	uint64_t age_ns;	/* blocks that live this long stay */
	uint64_t age;		/* in ticks */
	uint32_t max;		/* events that may wait */
	uint32_t used, unused;	/* slots; the first free one */
	uint32_t fresh;		/* slots ever used, slot 0 included */
	uint32_t first, last;
	uint32_t undecided_count;
	uint64_t serial;
	uint64_t peak_serial;	/* of the allocation that made the peak */
	/* for events out of order: up to this serial, none is older than this
	 * tick */
	uint64_t odd_serial, odd_tick, newest;
	uint64_t reported_ns;	/* when totals were written last */
};

/* `bytes`: approximate memory budget of totals. 0 or -ENOMEM. Sets the block
 * table's observer. */
int cull_init(struct cull *cull, struct ring_drain *drain,
	      struct block_table *table, uint64_t bytes);

/* Adds an event: its ring, the position after it, its stamp, its record.
 * Returns the slot in which it waits. */
uint32_t cull_put(struct cull *cull, uint32_t ring, uint64_t end,
		  uint64_t tick, const uint64_t *word);

/* Writes events that have waited long enough, and totals at intervals. */
void cull_poll(struct cull *cull, uint64_t now_ns);

/* Writes all waiting events of a ring, before its positions start again from 0;
 * or of all rings. */
void cull_flush_ring(struct cull *cull, uint32_t ring);
void cull_flush(struct cull *cull);

/* Writes totals up to now, and the totals of the run. */
void cull_report(struct cull *cull);

/* No waiting event has an older stamp. */
uint64_t cull_oldest(const struct cull *cull);

#endif
