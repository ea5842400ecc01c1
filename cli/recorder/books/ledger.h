/*
 * ledger.h: the block table: live blocks, and totals by context and thread. The
 * writer keeps it only while a feature needs it.
 *
 * Events arrive in the order of their stamps, as far as the writer can tell
 * (sequence.h). They have the same effect as in a reader of the trace: both use
 * cli/model/core/edges.h. With --sample, sums are weighted (weigh.h) and in
 * fixed point here; ledger_whole.h rounds them for output.
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

/* Sums, in fixed point with --sample; lifetimes are always integers. */
struct ledger_sum {
	uint64_t blocks, bytes;		/* allocated in all */
	uint64_t frees, freed;		/* of them freed */
	uint64_t peak_bytes, peak_blocks, peak_tick;
};

/* Measures of one context. */
struct ledger_figure {
	struct ledger_sum sum;
	uint64_t first, last;		/* ticks of allocations */
	uint64_t lifetime;		/* ticks, of the freed ones */
	uint64_t temporary;		/* as GT_TOTALS_TEMPORARY */
	uint32_t context;
	uint32_t told;			/* by the user that writes them, */
	uint16_t rest_blocks, rest_bytes;	/* with --sample: not written
						 * yet, */
	uint16_t rest_freed, rest_freed_bytes;	/* by freeing context */
};

/* Sums of blocks whose sizes have the same bit length. */
struct ledger_class {
	uint64_t blocks, bytes, frees, freed, temporary, lifetime;
};

/* Sums of blocks whose lifetimes, in ns, have the same bit length. */
struct ledger_lives {
	uint64_t blocks, bytes;
};

/* The origin of an event. */
struct ledger_source {
	uint32_t ring;
	uint32_t owner;		/* the first ring of that thread */
	uint32_t slot;		/* in which it waits; 0: none */
};

/* How a block ended. */
struct ledger_end {
	uint64_t tick;
	uint32_t by;		/* context that freed it; 0: unknown */
	uint32_t begin;		/* slot of the REALLOC_BEGIN, or 0 */
	uint32_t slot;		/* of the event that ended it */
	bool realloc;		/* by realloc, */
	bool moved;		/* which returned another block, */
	bool lost;		/* or its free was never seen */
	bool temporary;
};

/* Callbacks for every block, with its number; either all members are set or
 * none. Blocks have slots only if they are set. Chains belong to the owner, as
 * in edges_sink. */
struct ledger_tap {
	void *owner;
	void (*begun)(void *owner, const struct block *block, uint32_t number,
		      uint32_t chain);
	void (*peak)(void *owner);	/* new peak, by the last block begun */
	uint32_t (*ended)(void *owner, const struct block *block,
			  uint32_t number, const struct ledger_end *end);
	void (*chain_lost)(void *owner, uint32_t chain, uint64_t tick);
};

/* A thread that has a ring, or had a ring and still has live blocks. Entry 0 is
 * no thread. */
struct ledger_thread {
	uint32_t serial;	/* from 1; 0: no thread, or an unused entry */
	uint32_t ring;
	uint32_t next;		/* next unused entry; 0: none */
	bool gone;		/* the ring belongs to another thread now */
	uint64_t blocks;	/* live */
	uint64_t allocations;	/* so far */
	struct ledger_sum sum;
};

struct ledger_ring {
	uint32_t thread;	/* entry of its thread */
	uint32_t owner;		/* the first ring of that thread */
	uint32_t begin;		/* slot of the last REALLOC_BEGIN, or 0 */
};

struct ledger {
	struct edges edges;	/* a block's `cost` is an index of figures, its
				 * `thread` one of threads */
	struct grown numbers, figures, rings, threads;
	struct grown slots;	/* by block: slot of its waiting allocation
				 * (cull.h), or 0; only with a tap */
	uint64_t mean;		/* sampling interval; 0: all blocks */
	uint32_t figure_count, nodes_max;
	uint32_t thread_count, threads_unused;
	struct ledger_source now;	/* origin of the current event, */
	bool now_realloc;	/* which is of a realloc */
	uint64_t view;		/* tick: older blocks are known, but not
				 * counted */
	struct ledger_sum all;
	struct ledger_class classes[GT_CLASSES];
	struct ledger_lives lives[GT_CLASSES];
	uint64_t tick_ps;	/* length of a tick; 0: unknown */
	uint64_t unpaired;
	uint64_t refused;	/* blocks without memory for them */
	struct ledger_tap tap;
};

/* bytes: approximate memory budget, which sets the limits. Contexts are below
 * nodes_max. mean: sampling interval; 0: all blocks are recorded. 0 or
 * -ENOMEM. */
int ledger_init(struct ledger *ledger, uint64_t bytes, uint32_t nodes_max,
		uint32_t window_ticks, uint64_t mean);

/* This ring belongs to another thread from now on. */
void ledger_thread_new(struct ledger *ledger, uint32_t ring, uint32_t serial);

/* Handles an event; not EXTRA. */
void ledger_event(struct ledger *ledger, const struct ledger_source *from,
		  const struct trace_event *event);

/* All events up to this tick have arrived. An event that waited longer than the
 * window before it is handled without its counterpart. */
void ledger_settle(struct ledger *ledger, uint64_t tick);

/* No more events come: handles waiting events without their counterparts. */
void ledger_finish(struct ledger *ledger);

/* Counts from this tick on: present blocks stay known, but are not counted. */
void ledger_clear(struct ledger *ledger, uint64_t tick);

/* The same after events were missed: all blocks are forgotten. */
void ledger_forget(struct ledger *ledger, uint64_t tick);

/* This slot of a REALLOC_BEGIN will be reused. */
void ledger_forget_begin(struct ledger *ledger, uint32_t ring, uint32_t slot);

/* Whether the block is older than the start of counting. */
static inline bool ledger_is_foreign(const struct ledger *ledger,
				     const struct block *block)
{
	return block->birth < ledger->view;
}

/* Whether a block is known but not counted, and stays in the trace. That holds
 * for blocks of another heap, which lie in blocks of the allocator, and for
 * blocks older than the start of counting. */
static inline bool ledger_is_apart(const struct ledger *ledger,
			    const struct block *block)
{
	return block->address >> GL_HEADER_SHIFT ||
	       unlikely(ledger_is_foreign(ledger, block));
}

/* Bit length: 0 for 0, 1 for 1, 2 for 2 and 3 … */
static inline unsigned ledger_class_of(uint64_t value)
{
	return value ? 64 - __builtin_clzll(value) : 0;
}

/* The slot of a block; sets the slot, or 0 for none. */
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

/* The measures of a context; NULL: it has allocated nothing. */
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

/* The thread that has this ring, or entry 0. */
struct ledger_thread *ledger_thread_at(const struct ledger *ledger,
				       uint32_t ring);

#endif
