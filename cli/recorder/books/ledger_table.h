/*
 * ledger_table.h: the block table's arrays of contexts, rings and threads.
 * Private to the ledger; the writer only.
 */
#ifndef GNOMON_LEDGER_TABLE_H
#define GNOMON_LEDGER_TABLE_H

#include "cli/recorder/books/ledger.h"

#include "unwind/claim.h"

/* Creates the arrays; `edges` is set up. 0 or -ENOMEM. */
int ledger_tables(struct ledger *ledger, uint64_t bytes, uint32_t nodes_max);

/* The number of a context's measures; 0: no memory. */
uint32_t ledger_figure_number(struct ledger *ledger, uint32_t context);

/* The rounding offset of a context's sums (weigh.h). */
static inline uint16_t ledger_figure_lead(uint32_t context)
{
	uint64_t hash = context * UINT64_C(0x9e3779b97f4a7c15);

	return (uint16_t)((hash ^ hash >> 32) >> 40);
}

/* Makes room for the entry of a ring. False: no memory. */
bool ledger_reach_ring(struct ledger *ledger, uint32_t ring);

static inline struct ledger_ring *ledger_ring_at(const struct ledger *ledger,
						 uint32_t ring)
{
	return (struct ledger_ring *)ledger->rings.at + ring;
}

/* A block of the thread was freed. The last block of an ended thread also frees
 * the thread's entry. */
void ledger_thread_drop(struct ledger *ledger, struct ledger_thread *thread);

/* Whether the sum has a new maximum. */
static inline bool ledger_sum_add(struct ledger_sum *sum,
				  struct weigh_amount amount, uint64_t tick)
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

static inline void ledger_sum_end(struct ledger_sum *sum,
				  struct weigh_amount amount)
{
	sum->frees += amount.blocks;
	sum->freed += amount.bytes;
	CLAIM_FULL(sum->frees <= sum->blocks);
}

/* I1 of ledger.c, I2 of ledger_table.c, and the counts. With GNOMON_CLAIMS. */
bool ledger_is_valid(const struct ledger *ledger);

#endif
