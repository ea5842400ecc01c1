/*
 * ledger.h: which blocks are live, and what contexts and threads have
 * allocated: kept by the writer, only while something needs it.
 *
 * Events come to it in the order of their stamps, as far as the writer can
 * tell (sequence.h), and mean what they mean to a reader of the trace: both
 * have them from cli/model/core/edges.h. Of a sample, its sums are of what the
 * blocks stand for (weigh.h), in fixed point here: who tells them takes whole
 * numbers (ledger_whole.h).
 *
 * The writer only.
 */
#ifndef GNOMON_LEDGER_H
#define GNOMON_LEDGER_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/model/core/edges.h"
#include "cli/model/core/weigh.h"
#include "cli/recorder/base/grown.h"
#include "cli/trace/format/trace_format.h"
#include "preload/base/base.h"
#include "preload/ring/ledger_ask.h"
#include "unwind/claim.h"

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

/* Of lifetimes, in ns, with the same bit length. */
struct ledger_lives {
	uint64_t blocks, bytes;
};

/* Where an event comes from. */
struct ledger_source {
	uint32_t ring;
	uint32_t owner;		/* the first ring of that thread */
	uint32_t slot;		/* where it waits, 0: nowhere */
};

/* How a block ended. */
struct ledger_end {
	uint64_t tick;
	uint32_t by;		/* context that freed it, 0: not known */
	uint32_t begin;		/* slot of the REALLOC_BEGIN, 0 */
	uint32_t slot;		/* of the event that ended it */
	bool realloc;		/* that was one's, */
	bool moved;		/* which has made another block of it, */
	bool lost;		/* or it was never seen to be freed */
	bool temporary;
};

/* Told of every block, with its number; all members are there, or none. Blocks
 * have slots while somebody is. Chains are the owner's, as edges_sink has them. */
struct ledger_tap {
	void *owner;
	void (*begun)(void *owner, const struct block *block, uint32_t number,
		      uint32_t chain);
	void (*peak)(void *owner);	/* of all, by the last one begun */
	uint32_t (*ended)(void *owner, const struct block *block,
			  uint32_t number, const struct ledger_end *end);
	void (*chain_lost)(void *owner, uint32_t chain, uint64_t tick);
};

/* A thread that has a ring, or had one, and blocks of it live. Entry 0 is
 * nobody. */
struct ledger_thread {
	uint32_t serial;	/* from 1; 0: nobody's, or an unused entry */
	uint32_t ring;
	uint32_t next;		/* of the unused ones; 0: none */
	bool gone;		/* the ring is another's */
	uint64_t blocks;	/* that live */
	uint64_t allocations;	/* so far */
	struct ledger_sum sum;
};

struct ledger_ring {
	uint32_t thread;	/* that has it: entry */
	uint32_t owner;		/* the first ring of that thread */
	uint32_t begin;		/* slot of the last REALLOC_BEGIN, 0 */
};

struct ledger {
	struct edges edges;	/* a block's cost is its figure, its thread
				 * that in `threads` */
	struct grown numbers, figures, rings, threads;
	struct grown slots;	/* by block: where its allocation waits (cull.h),
				 * 0; only with a tap */
	uint64_t mean;		/* distance of a sample, 0: all blocks */
	uint32_t figure_count, nodes_max;
	uint32_t thread_count, threads_unused;
	struct ledger_source now;	/* of the event that is being taken, */
	bool now_realloc;	/* which is a realloc's */
	uint64_t view;		/* tick: blocks from before are foreign: they
				 * are known, and not counted */
	struct ledger_sum all;
	struct ledger_class classes[GT_CLASSES];
	struct ledger_lives lives[GT_CLASSES];
	uint64_t tick_ps;	/* length of a tick, 0: not known */
	uint64_t unpaired;
	uint64_t refused;	/* blocks there was no memory for */
	struct ledger_tap tap;
};

/* Bytes that it may take, about, by which it has limits. Contexts are below
 * nodes_max; mean: of a sample, 0: all blocks are recorded. 0 or -ENOMEM. */
int ledger_init(struct ledger *ledger, uint64_t bytes, uint32_t nodes_max,
		uint32_t window_ticks, uint64_t mean);

/* Another thread has this ring from now on. */
void ledger_thread_new(struct ledger *ledger, uint32_t ring, uint32_t serial);

/* Not EXTRA. */
void ledger_event(struct ledger *ledger, const struct ledger_source *from,
		  const struct trace_event *event);

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

/* Whether it is from before the ledger began to count. */
static inline bool ledger_is_foreign(const struct ledger *ledger,
				     const struct block *block)
{
	return block->birth < ledger->view;
}

/* Blocks of another heap lie in blocks of the allocator: they are known, but
 * not counted, and stay in the trace. The same goes for foreign ones. */
static inline bool ledger_is_apart(const struct ledger *ledger,
			    const struct block *block)
{
	return block->address >> GL_HEADER_SHIFT ||
	       unlikely(ledger_is_foreign(ledger, block));
}

/* Bit length: 0 of 0, 1 of 1, 2 of 2 and 3 … */
static inline unsigned ledger_class_of(uint64_t value)
{
	return value ? 64 - __builtin_clzll(value) : 0;
}

/* The slot of a block, and another one, or none. */
static inline uint32_t ledger_slot(const struct ledger *ledger, uint32_t number)
{
	return (number + UINT64_C(1)) * sizeof(uint32_t) > ledger->slots.ready ?
		       0 : ((const uint32_t *)ledger->slots.at)[number];
}

static inline void ledger_set_slot(struct ledger *ledger, uint32_t number,
				   uint32_t slot)
{
	if ((number + UINT64_C(1)) * sizeof(uint32_t) <= ledger->slots.ready)
		((uint32_t *)ledger->slots.at)[number] = slot;
}

/* number: 1 … figure_count. */
static inline struct ledger_figure *ledger_figure_at(
	const struct ledger *ledger, uint32_t number)
{
	CLAIM_FULL(number > 0 && number <= ledger->figure_count);
	return (struct ledger_figure *)ledger->figures.at + number;
}

/* The figures of a context, NULL: it has allocated nothing. */
struct ledger_figure *ledger_figure_of(const struct ledger *ledger,
				       uint32_t context);

static inline struct ledger_thread *ledger_thread_of(
	const struct ledger *ledger, const struct block *block)
{
	CLAIM_FULL(block->thread < ledger->thread_count);
	return (struct ledger_thread *)ledger->threads.at + block->thread;
}

static inline uint32_t ledger_context_of(const struct ledger *ledger,
					 const struct block *block)
{
	return ledger_figure_at(ledger, block->cost)->context;
}

/* Of the thread that has this ring, or nobody. */
struct ledger_thread *ledger_thread_at(const struct ledger *ledger,
				       uint32_t ring);

#endif
