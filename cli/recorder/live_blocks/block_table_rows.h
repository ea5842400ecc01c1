/*
 * block_table_rows.h: the block table's arrays of contexts, rings and threads.
 * Private to the block table; the recorder only.
 */
#ifndef GNOMON_BLOCK_TABLE_ROWS_H
#define GNOMON_BLOCK_TABLE_ROWS_H

#include "cli/recorder/live_blocks/block_table.h"

#include "unwind/base/assertion.h"

/* Creates the arrays; `edges` is set up. 0 or -ENOMEM. */
int block_table_arrays(struct block_table *table, uint64_t bytes,
		       uint32_t nodes_max);

/* The number of a context's measures; 0: no memory. */
uint32_t block_table_figure_number(struct block_table *table, uint32_t context);

/* The rounding offset of a context's sums (weight.h). */
static inline uint16_t block_table_figure_lead(uint32_t context)
{
	uint64_t hash = context * UINT64_C(0x9e3779b97f4a7c15);

	return (uint16_t)((hash ^ hash >> 32) >> 40);
}

/* Makes room for the entry of a ring. False: no memory. */
bool block_table_reach_ring(struct block_table *table, uint32_t ring);

static inline struct block_table_ring *
block_table_ring_at(const struct block_table *table, uint32_t ring)
{
	return (struct block_table_ring *)table->rings.at + ring;
}

/* A block of the thread was freed. The last block of an ended thread also frees
 * the thread's entry. */
void block_table_thread_drop(struct block_table *table,
			     struct block_table_thread *thread);

/* Whether the sum has a new maximum. */
static inline bool block_table_sum_add(struct block_table_sum *sum,
				       struct weight_amount amount,
				       uint64_t tick)
{
	uint64_t live;

	sum->blocks += amount.blocks;
	sum->bytes += amount.bytes;
	live = sum->bytes - sum->freed;
	if (live <= sum->peak_bytes)
		return false;
	sum->peak_bytes = live;
	sum->peak_blocks = sum->blocks - sum->frees;
	sum->peak_tick = tick;
	return true;
}

static inline void block_table_sum_end(struct block_table_sum *sum,
				       struct weight_amount amount)
{
	sum->frees += amount.blocks;
	sum->freed += amount.bytes;
	DEBUG_ASSERT(sum->frees <= sum->blocks);
}

/* I1 of block_table.c, I2 of block_table_rows.c, and the counts. With
 * GNOMON_DEBUG_ASSERTS. */
bool block_table_is_valid(const struct block_table *table);

#endif
