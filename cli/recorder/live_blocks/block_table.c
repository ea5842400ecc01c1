/*
 * block_table.c: see block_table.h. Updates the sums when
 * cli/model/core/edges.h reports that a block begins or ends. The results equal
 * those of a reader of the trace (cli/model/account.c).
 *
 * FOREIGN BLOCKS. Blocks live at a clear stay in the table, so that their frees
 * are recognised, but they are not counted (view).
 *
 * I1: each block's context has a block_table_figure.
 *
 * The recorder only.
 */
#include "cli/recorder/live_blocks/block_table_rows.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "unwind/base/assertion.h"

/* Bytes of the memory budget for one live block, including its entries in other
 * tables. */
#define BLOCK_TABLE_BLOCK 96

/* ---- a block begins ---- */

/* Counts a new block. Returns whether live bytes have a new maximum. */
static bool block_table_count_begin(struct block_table *table,
				    const struct block *block)
{
	struct block_table_figure *figure =
		block_table_figure_at(table, block->cost);
	struct block_table_class *class =
		&table->classes[block_table_class_of(block->size)];
	struct weight_amount amount = weight_block(block->size, table->mean);

	DEBUG_ASSERT(block->cost <= table->figure_count);
	class->blocks += amount.blocks;
	class->bytes += amount.bytes;
	if (!figure->sum.blocks)
		figure->first = block->alloc;
	figure->last = block->alloc;
	block_table_sum_add(&figure->sum, amount, block->alloc);
	block_table_sum_add(&block_table_thread_of(table, block)->sum, amount,
			    block->alloc);
	return block_table_sum_add(&table->all, amount, block->alloc);
}

/* Calls the observer. The block gets the slot of its allocation, if that is the
 * current event. */
static void block_table_report_begin(struct block_table *table,
				     const struct block *block, uint32_t chain)
{
	uint32_t number = blocks_number(&table->edges.blocks, block);

	if (vector_reach(&table->slots,
			 (number + UINT64_C(1)) * sizeof(uint32_t)))
		block_table_set_slot(table, number,
				     block->odd ? 0 : table->now.slot);
	table->observer.begun(table->observer.owner, block, number, chain);
}

static inline void block_table_alloc(void *owner, struct block *block,
				     uint32_t lane, uint32_t context,
				     uint32_t chain)
{
	struct block_table *table = owner;
	uint32_t ring = block_table_ring_at(table, lane)->owner;
	struct block_table_thread *thread;
	bool peak = false;

	block->thread = block_table_ring_at(table, ring)->thread;
	block->cost = block_table_figure_number(table, context);
	assert(block->cost != 0);	/* I1 */
	thread = block_table_thread_of(table, block);
	DEBUG_ASSERT(block->thread < table->thread_count);
	thread->blocks++;
	block->sequence = ++thread->allocations & BLOCK_SEQUENCE;
	if (unlikely(block_table_is_apart(table, block)))
		block->odd = 1;
	else
		peak = block_table_count_begin(table, block);
	if (table->observer.begun)
		block_table_report_begin(table, block, chain);
	if (peak && table->observer.peak)
		table->observer.peak(table->observer.owner);
}

/* ---- a block ends ---- */

static void block_table_count_end(struct block_table *table,
				  const struct block *block,
				  const struct block_table_end *end)
{
	struct block_table_figure *figure =
		block_table_figure_at(table, block->cost);
	struct block_table_class *class =
		&table->classes[block_table_class_of(block->size)];
	struct block_table_lifetimes *lives;
	struct weight_amount amount = weight_block(block->size, table->mean);
	uint64_t lifetime = end->tick > block->alloc ?
				    end->tick - block->alloc : 0;

	DEBUG_ASSERT(block->cost != 0 && block->cost <= table->figure_count);
	block_table_sum_end(&table->all, amount);
	block_table_sum_end(&figure->sum, amount);
	block_table_sum_end(&block_table_thread_of(table, block)->sum, amount);
	class->frees += amount.blocks;
	class->freed += amount.bytes;
	DEBUG_ASSERT(class->frees <= class->blocks);
	if (end->lost)
		return;
	lives = &table->lives[block_table_class_of(lifetime / 1000 *
						   table->tick_ps +
						   lifetime % 1000 *
						   table->tick_ps / 1000)];
	lives->blocks += amount.blocks;
	lives->bytes += amount.bytes;
	lifetime = weight_lifetime(lifetime, amount.blocks, table->mean);
	class->temporary += end->temporary;
	class->lifetime += lifetime;
	figure->temporary += end->temporary;
	figure->lifetime += lifetime;
}

static uint32_t block_table_report_end(const struct block_table *table,
				       const struct block *block,
				       struct block_table_end *end)
{
	const struct block_table_source *now = &table->now;

	end->realloc = table->now_realloc;
	end->slot = now->slot;
	if (end->realloc)
		end->begin = block_table_ring_at(table, now->ring)->begin;
	return table->observer.ended(table->observer.owner, block,
				     blocks_number(&table->edges.blocks, block),
				     end);
}

static inline uint32_t block_table_end(void *owner, struct block *block,
				       uint64_t stamp, uint32_t by,
				       enum edge_end how)
{
	struct block_table *table = owner;
	struct block_table_thread *thread = block_table_thread_of(table, block);
	struct block_table_end end = {
		.tick = stamp, .by = by, .lost = how == EDGE_LOST,
		.moved = how == EDGE_MOVED,
		/* allocations in between may not be in the sample */
		.temporary = !table->mean && how != EDGE_LOST &&
			(thread->allocations & BLOCK_SEQUENCE) ==
				block->sequence,
	};

	uint32_t chain = 0;

	DEBUG_ASSERT(thread->blocks > 0);
	if (likely(!block_table_is_apart(table, block)))
		block_table_count_end(table, block, &end);
	if (table->observer.ended)
		chain = block_table_report_end(table, block, &end);
	block_table_thread_drop(table, thread);
	return chain;
}

/* ---- other callbacks of edges ---- */

static void block_table_chain_lost(void *owner, uint32_t chain, uint64_t stamp)
{
	const struct block_table *table = owner;

	if (chain && table->observer.chain_lost)
		table->observer.chain_lost(table->observer.owner, chain, stamp);
}

static void block_table_odd(void *owner, enum edge_odd what, uint64_t stamp)
{
	struct block_table *table = owner;

	(void)stamp;
	table->unpaired += what == EDGE_UNPAIRED ||
			    (what == EDGE_UNKNOWN && !table->edges.gap);
}

static void block_table_refused(void *owner, uint32_t lane)
{
	struct block_table *table = owner;
	uint32_t ring = block_table_ring_at(table, lane)->owner;

	block_table_thread_at(table, ring)->allocations++;
	table->refused++;
}

static const struct edges_sink block_table_sink = {
	.alloc = block_table_alloc,
	.end = block_table_end,
	.chain_lost = block_table_chain_lost,
	.odd = block_table_odd,
	.refused = block_table_refused,
};

/* ---- events ---- */

int block_table_init(struct block_table *table, uint64_t bytes,
		     uint32_t nodes_max, uint32_t window_ticks, uint64_t mean)
{
	memset(table, 0, sizeof(*table));
	if (!edges_init(&table->edges, &block_table_sink, table,
			bytes / BLOCK_TABLE_BLOCK))
		return -ENOMEM;
	table->edges.waiting.window = window_ticks;
	table->edges.settled = 0;
	table->mean = mean;
	return block_table_arrays(table, bytes, nodes_max);
}

/* Handles an allocation without memory for its context's block_table_figure. */
static void block_table_refuse(struct block_table *table, uint32_t ring,
			       const struct trace_event *event)
{
	struct trace_event freed = *event;

	table->edges.gap = true;
	block_table_refused(table, ring);
	freed.kind = GT_REALLOC_FREED;
	if (event->kind == GT_REALLOC_DONE)
		edges_event(&table->edges, &block_table_sink, ring, &freed);
}

void block_table_event(struct block_table *table,
		       const struct block_table_source *from,
		       const struct trace_event *event)
{
	struct edges *edges = &table->edges;

	if (unlikely(!block_table_reach_ring(table, from->ring) ||
		     !block_table_reach_ring(table, from->owner) ||
		     !edges_reach(edges, from->ring)))
		return;
	edges_advance(edges, event->stamp);
	table->now = *from;
	table->now_realloc = event->kind != GT_FREE;
	DEBUG_ASSERT(from->ring < GL_RINGS_MAX && from->owner < GL_RINGS_MAX);
	block_table_ring_at(table, from->ring)->owner = from->owner;
	if (event->kind == GT_REALLOC_BEGIN)
		block_table_ring_at(table, from->ring)->begin = from->slot;
	if ((event->kind == GT_ALLOC || event->kind == GT_REALLOC_DONE) &&
	    unlikely(!block_table_figure_number(table, event->context)))
		block_table_refuse(table, from->ring, event);
	else
		edges_event(edges, &block_table_sink, from->ring, event);
}

void block_table_catch_up(struct block_table *table, uint64_t tick)
{
	table->edges.settled = tick;
	edges_expire(&table->edges, tick);
}

void block_table_finish(struct block_table *table)
{
	edges_finish(&table->edges, table->edges.settled);
	DEBUG_ASSERT(block_table_is_valid(table));
}

void block_table_forget_begin(struct block_table *table, uint32_t ring,
			      uint32_t slot)
{
	struct block_table_ring *of = block_table_ring_at(table, ring);

	if (of->begin == slot)
		of->begin = 0;
}
