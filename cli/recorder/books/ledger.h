/*
 * ledger.h: which blocks are live, and what contexts and threads have
 * allocated: kept by the writer, only while something needs it.
 *
 * Events come to it in the order of their stamps, as far as the writer can
 * tell (sequence.h), and mean here what they mean to a reader of the trace. Of
 * a sample, its sums are of what the blocks stand for (weigh.h), in fixed point
 * here: who tells them takes whole numbers (ledger_whole.h).
 *
 * The writer only.
 */
#ifndef GNOMON_LEDGER_H
#define GNOMON_LEDGER_H

#include <stdbool.h>
#include <stdint.h>

#include "preload/format.h"
#include "preload/ring/ledger_ask.h"
#include "cli/recorder/reserve.h"
#include "cli/recorder/books/weigh.h"

/* Sums, in fixed point if it is a sample; lifetimes never. */
struct ledger_sum {
	uint64_t blocks, bytes;		/* allocated in all */
	uint64_t frees, freed;		/* of them not live any more */
	uint64_t peak_bytes, peak_blocks, peak_tick;
};

/* Of one context. */
struct ledger_figure {
	struct ledger_sum sum;
	uint64_t first, last;		/* ticks of allocations */
	uint64_t lifetime;		/* ticks, of the freed ones */
	uint64_t temporary;		/* as GT_TOTALS_TEMPORARY */
	uint32_t context;
	uint32_t told;			/* of who writes it down, */
	uint16_t rest_blocks, rest_bytes;	/* of a sample: not told yet, */
	uint16_t rest_freed, rest_freed_bytes;	/* by who frees */
};

/* Of sizes with the same bit length. */
struct ledger_class {
	uint64_t blocks, bytes, frees, freed, temporary, lifetime;
};

enum ledger_flags {
	LEDGER_MOVING = 1,	/* a realloc of it has begun */
	LEDGER_ODD = 2		/* its events came out of order */
};

struct ledger_block {
	uint64_t address;	/* heap << 48 | address; 0: an unused entry */
	uint64_t size;
	uint64_t tick;
	uint32_t next;		/* in its bucket, or of the unused; 0: none */
	uint32_t figure;	/* number, from 1 */
	uint32_t slot;		/* where its allocation waits (cull.h), 0 */
	uint32_t sequence;	/* allocations of its thread up to it */
	uint32_t thread;	/* serial number of the thread, from 1 */
	uint16_t ring;		/* that the thread had */
	uint16_t flags;
};

/* Of lifetimes, in ns, with the same bit length. */
struct ledger_lives {
	uint64_t blocks, bytes;
};

/* An event as the ledger takes it. */
struct ledger_event {
	uint32_t kind;		/* enum gt_event, not GT_EXTRA */
	uint32_t ring;		/* where it came from, */
	uint32_t owner;		/* the first ring of that thread */
	uint32_t context;
	uint64_t tick, address, size;
	uint32_t slot;		/* where it waits, 0: nowhere */
};

/* How a block ended. */
struct ledger_end {
	uint64_t tick;
	uint32_t by;		/* context that freed it, 0: not known */
	uint32_t begin;		/* slot of the REALLOC_BEGIN, 0 */
	uint32_t slot;		/* of the event that ended it */
	uint32_t kind;		/* of that: FREE, REALLOC_DONE, REALLOC_FREED */
	bool lost;		/* it was never seen to be freed */
	bool temporary;
};

/* Told of every block; all members may be NULL. */
struct ledger_tap {
	void *owner;
	void (*begun)(void *owner, struct ledger_block *block);
	void (*peak)(void *owner);	/* of all, by the last one begun */
	void (*ended)(void *owner, struct ledger_block *block,
		      const struct ledger_end *end);
};

/* Of the thread that has a ring. */
struct ledger_thread {
	uint32_t serial;
	uint32_t allocations;	/* counts on and wraps */
	struct ledger_sum sum;
};

/* The realloc that has begun in a ring. */
struct ledger_moving {
	uint64_t address;
	uint32_t by, slot;
	bool active;
	bool found;		/* the block is known, */
	bool released;		/* but its address is another's by now */
};

#define LEDGER_WAITING 1024

struct ledger_waiting {
	struct ledger_event event[2 * LEDGER_WAITING];	/* oldest first, */
	uint32_t first, count;	/* from here on, so many */
	uint64_t expires;	/* tick; UINT64_MAX: nothing waits */
	uint16_t present[LEDGER_WAITING];	/* by hash of the address */
};

struct ledger {
	struct reserve_table heads, blocks, numbers, figures, rings, moving;
	uint64_t mean;		/* distance of a sample, 0: all blocks */
	uint32_t buckets;	/* in use; grows by one at a time */
	uint32_t block_count;	/* entries that were ever used, 0 included */
	uint32_t unused;
	uint32_t live;		/* entries with a block */
	uint32_t figure_count, nodes_max;
	uint64_t view;		/* tick: blocks from before are foreign: they
				 * are known, and not counted */
	bool gap;		/* some blocks were never seen to begin: a free
				 * of one that is not known is no news */
	uint64_t window;	/* ticks in which stamps may disagree */
	uint64_t settled;	/* up to there events come in order */
	struct ledger_sum all;
	struct ledger_class classes[GT_CLASSES];
	struct ledger_lives lives[GT_CLASSES];
	uint64_t tick_ps;	/* length of a tick, 0: not known */
	uint64_t unpaired;
	uint64_t refused;	/* blocks there was no memory for */
	struct ledger_waiting *waiting;
	struct ledger_tap tap;
};

/* Contexts are below nodes_max; mean: of a sample, 0: all blocks are recorded.
 * 0 or -ENOMEM. */
int ledger_init(struct ledger *ledger, struct reserve *reserve,
		uint32_t nodes_max, uint32_t window_ticks, uint64_t mean);

/* Another thread has this ring from now on. */
void ledger_thread_new(struct ledger *ledger, uint32_t ring, uint32_t serial);

void ledger_event(struct ledger *ledger, const struct ledger_event *event);

/* Events up to this tick come in the order of their stamps; what waited
 * longer than the window before it is given up. */
void ledger_settle(struct ledger *ledger, uint64_t tick);

/* No more events come: what waits for others is given up. */
void ledger_finish(struct ledger *ledger);

/* Counts from this tick on: blocks that there are stay, but are foreign. */
void ledger_clear(struct ledger *ledger, uint64_t tick);

/* The same, and what happened up to now was not all seen: no block is known. */
void ledger_forget(struct ledger *ledger, uint64_t tick);

/* This slot of a REALLOC_BEGIN is another's from now on. */
void ledger_forget_begin(struct ledger *ledger, uint32_t ring, uint32_t slot);

/* An event about this address is near, and nearer: what it takes to find its
 * block lies all over the memory. */
void ledger_prefetch(const struct ledger *ledger, uint64_t address);
void ledger_prefetch_block(const struct ledger *ledger, uint64_t address);

/* The live block at an address (or NULL). */
struct ledger_block *ledger_find(const struct ledger *ledger,
				 uint64_t address);

/* Whether it is from before the ledger began to count. */
static inline bool ledger_is_foreign(const struct ledger *ledger,
				     const struct ledger_block *block)
{
	return block->tick < ledger->view;
}

/* Bit length: 0 of 0, 1 of 1, 2 of 2 and 3 … */
static inline unsigned ledger_class_of(uint64_t value)
{
	return value ? 64 - __builtin_clzll(value) : 0;
}

static inline struct ledger_block *ledger_block_at(const struct ledger *ledger,
						   uint32_t number)
{
	return (struct ledger_block *)ledger->blocks.at + number;
}

/* number: 1 … figure_count. */
static inline struct ledger_figure *ledger_figure_at(
	const struct ledger *ledger, uint32_t number)
{
	return (struct ledger_figure *)ledger->figures.at + number;
}

/* The figures of a context, NULL: it has allocated nothing. */
struct ledger_figure *ledger_figure_of(const struct ledger *ledger,
				       uint32_t context);

/* Of the thread that has (or had last) this ring. */
struct ledger_thread *ledger_thread_at(const struct ledger *ledger,
				       uint32_t ring);

/* Bytes of memory it takes. */
uint64_t ledger_bytes(const struct ledger *ledger);

#endif
