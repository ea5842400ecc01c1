/*
 * ledger_table.h: the ledger's tables, apart from what edges mean. Private to
 * the ledger; the writer only.
 */
#ifndef GNOMON_LEDGER_TABLE_H
#define GNOMON_LEDGER_TABLE_H

#include "cli/recorder/books/ledger.h"

#include "unwind/claim.h"

/* With edges that are there: 0 or -ENOMEM. */
int ledger_tables(struct ledger *ledger, uint64_t bytes, uint32_t nodes_max);

/* Of a context: its number, 0: no memory. */
uint32_t ledger_figure_number(struct ledger *ledger, uint32_t context);

/* What a context's sum is rounded with (weigh.h). */
static inline uint16_t ledger_figure_lead(uint32_t context)
{
	uint64_t hash = context * UINT64_C(0x9e3779b97f4a7c15);

	return (uint16_t)((hash ^ hash >> 32) >> 40);
}

/* Room for what is kept of a ring. False: no memory. */
bool ledger_reach_ring(struct ledger *ledger, uint32_t ring);

static inline struct ledger_ring *ledger_ring_at(const struct ledger *ledger,
						 uint32_t ring)
{
	return (struct ledger_ring *)ledger->rings.at + ring;
}

/* A block of the thread's is not live any more: the last one of a thread that
 * is gone takes its entry with it. */
void ledger_thread_drop(struct ledger *ledger, struct ledger_thread *thread);

/* Whether it is a new maximum. */
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
