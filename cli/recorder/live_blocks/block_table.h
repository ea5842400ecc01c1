/*
 * block_table.h: the block table: live blocks, and totals by context and
 * thread. The recorder keeps it only while a feature needs it.
 *
 * Events arrive in the order of their stamps, as far as the recorder can tell
 * (event_merge.h). They have the same effect as in a reader of the trace: both
 * use cli/model/core/edges.h. With --sample, sums are weighted (weight.h) and
 * in fixed point here; block_table_rounded.h rounds them for output.
 *
 * The recorder only.
 */
#ifndef GNOMON_BLOCK_TABLE_H
#define GNOMON_BLOCK_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/model/core/edges.h"
#include "cli/model/core/weight.h"
#include "cli/recorder/base/vector.h"
#include "cli/trace/format/trace_format.h"
#include "preload/base/base.h"
#include "preload/ring/blocks_request.h"
#include "unwind/base/assertion.h"

/* Sums, in fixed point with --sample; lifetimes are always integers. */
struct block_table_sum {
	uint64_t blocks, bytes;		/* allocated in all */
	uint64_t frees, freed;		/* of them freed */
	uint64_t peak_bytes, peak_blocks, peak_tick;
};

/* Measures of one context. */
struct block_table_figure {
	struct block_table_sum sum;
	uint64_t first, last;		/* ticks of allocations */
	uint64_t lifetime;		/* ticks, of the freed ones */
	uint64_t temporary;		/* as GT_TOTALS_TEMPORARY */
	uint32_t context;
	uint32_t reported;		/* by the user that writes them, */
	uint16_t rest_blocks, rest_bytes;	/* with --sample: not written
						 * yet, */
	uint16_t rest_freed, rest_freed_bytes;	/* by freeing context */
};

/* Sums of blocks whose sizes have the same bit length. */
struct block_table_class {
	uint64_t blocks, bytes, frees, freed, temporary, lifetime;
};

/* Sums of blocks whose lifetimes, in ns, have the same bit length. */
struct block_table_lifetimes {
	uint64_t blocks, bytes;
};

/* The origin of an event. */
struct block_table_source {
	uint32_t ring;
	uint32_t owner;		/* the first ring of that thread */
	uint32_t slot;		/* in which it waits; 0: none */
};

/* How a block ended. */
struct block_table_end {
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
struct block_table_observer {
	void *owner;
	void (*begun)(void *owner, const struct block *block, uint32_t number,
		      uint32_t chain);
	void (*peak)(void *owner);	/* new peak, by the last block begun */
	uint32_t (*ended)(void *owner, const struct block *block,
			  uint32_t number, const struct block_table_end *end);
	void (*chain_lost)(void *owner, uint32_t chain, uint64_t tick);
};

/* A thread that has a ring, or had a ring and still has live blocks. Entry 0 is
 * no thread. */
struct block_table_thread {
	uint32_t serial;	/* from 1; 0: no thread, or an unused entry */
	uint32_t ring;
	uint32_t next;		/* next unused entry; 0: none */
	bool gone;		/* the ring belongs to another thread now */
	uint64_t blocks;	/* live */
	uint64_t allocations;	/* so far */
	struct block_table_sum sum;
};

struct block_table_ring {
	uint32_t thread;	/* entry of its thread */
	uint32_t owner;		/* the first ring of that thread */
	uint32_t begin;		/* slot of the last REALLOC_BEGIN, or 0 */
};

struct block_table {
	struct edges edges;	/* a block's `cost` is an index of figures, its
				 * `thread` one of threads */
	struct vector numbers, figures, rings, threads;
	struct vector slots;	/* by block: slot of its waiting allocation
				 * (cull.h), or 0; only with an observer */
	uint64_t mean;		/* sampling interval; 0: all blocks */
	uint32_t figure_count, nodes_max;
	uint32_t thread_count, threads_unused;
	struct block_table_source now;	/* origin of the current event, */
	bool now_realloc;	/* which is of a realloc */
	uint64_t view;		/* tick: older blocks are known, but not
				 * counted */
	struct block_table_sum all;
	struct block_table_class classes[GT_CLASSES];
	struct block_table_lifetimes lives[GT_CLASSES];
	uint64_t tick_ps;	/* length of a tick; 0: unknown */
	uint64_t unpaired;
	uint64_t refused;	/* blocks without memory for them */
	struct block_table_observer observer;
};

/* bytes: approximate memory budget, which sets the limits. Contexts are below
 * nodes_max. mean: sampling interval; 0: all blocks are recorded. 0 or
 * -ENOMEM. */
int block_table_init(struct block_table *table, uint64_t bytes,
		     uint32_t nodes_max, uint32_t window_ticks, uint64_t mean);

/* This ring belongs to another thread from now on. */
void block_table_thread_new(struct block_table *table, uint32_t ring,
			    uint32_t serial);

/* Handles an event; not EXTRA. */
void block_table_event(struct block_table *table,
		       const struct block_table_source *from,
		       const struct trace_event *event);

/* All events up to this tick have arrived. An event that waited longer than the
 * window before it is handled without its counterpart. */
void block_table_catch_up(struct block_table *table, uint64_t tick);

/* No more events come: handles waiting events without their counterparts. */
void block_table_finish(struct block_table *table);

/* Counts from this tick on: present blocks stay known, but are not counted. */
void block_table_clear(struct block_table *table, uint64_t tick);

/* The same after events were missed: all blocks are forgotten. */
void block_table_forget(struct block_table *table, uint64_t tick);

/* This slot of a REALLOC_BEGIN will be reused. */
void block_table_forget_begin(struct block_table *table, uint32_t ring,
			      uint32_t slot);

/* Whether the block is older than the start of counting. */
static inline bool block_table_is_foreign(const struct block_table *table,
					  const struct block *block)
{
	return block->alloc < table->view;
}

/* Whether a block is known but not counted, and stays in the trace. That holds
 * for blocks of another heap, which lie in blocks of the allocator, and for
 * blocks older than the start of counting. */
static inline bool block_table_is_apart(const struct block_table *table,
			    const struct block *block)
{
	return block->address >> GL_HEADER_SHIFT ||
	       unlikely(block_table_is_foreign(table, block));
}

/* Bit length: 0 for 0, 1 for 1, 2 for 2 and 3 … */
static inline unsigned block_table_class_of(uint64_t value)
{
	return value ? 64 - __builtin_clzll(value) : 0;
}

/* The slot of a block; sets the slot, or 0 for none. */
static inline uint32_t block_table_slot(const struct block_table *table,
					uint32_t number)
{
	return (number + UINT64_C(1)) * sizeof(uint32_t) > table->slots.ready ?
		       0 : ((const uint32_t *)table->slots.at)[number];
}

static inline void block_table_set_slot(struct block_table *table,
					uint32_t number, uint32_t slot)
{
	if ((number + UINT64_C(1)) * sizeof(uint32_t) <= table->slots.ready)
		((uint32_t *)table->slots.at)[number] = slot;
}

/* number: 1 … figure_count. */
static inline struct block_table_figure *block_table_figure_at(
	const struct block_table *table, uint32_t number)
{
	DEBUG_ASSERT(number > 0 && number <= table->figure_count);
	return (struct block_table_figure *)table->figures.at + number;
}

/* The measures of a context; NULL: it has allocated nothing. */
struct block_table_figure *
block_table_figure_of(const struct block_table *table, uint32_t context);

static inline struct block_table_thread *block_table_thread_of(
	const struct block_table *table, const struct block *block)
{
	DEBUG_ASSERT(block->thread < table->thread_count);
	return (struct block_table_thread *)table->threads.at + block->thread;
}

static inline uint32_t block_table_context_of(const struct block_table *table,
					      const struct block *block)
{
	return block_table_figure_at(table, block->cost)->context;
}

/* The thread that has this ring, or entry 0. */
struct block_table_thread *
block_table_thread_at(const struct block_table *table, uint32_t ring);

#endif
