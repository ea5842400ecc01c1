/*
 * ledger_table.h: the ledger's tables, apart from what events mean. Private to
 * the ledger; the writer only.
 */
#ifndef GNOMON_LEDGER_TABLE_H
#define GNOMON_LEDGER_TABLE_H

#include "cli/recorder/books/ledger.h"

static inline uint64_t ledger_hash(uint64_t address)
{
	uint64_t hash = (address >> 4 | address << 60) *
			UINT64_C(0x9e3779b97f4a7c15);

	return hash ^ hash >> 32;
}

/* A block that is not in the table yet; only its address is set. NULL: no
 * memory. */
struct ledger_block *ledger_add(struct ledger *ledger, uint64_t address);

void ledger_remove(struct ledger *ledger, struct ledger_block *block);

/* Of a context: its number, 0: no memory. */
uint32_t ledger_figure_number(struct ledger *ledger, uint32_t context);

/* What a context's sum is rounded with (weigh.h). */
static inline uint16_t ledger_figure_lead(uint32_t context)
{
	return (uint16_t)(ledger_hash((uint64_t)context << 4) >> 40);
}

static inline struct ledger_moving *ledger_moving_of(const struct ledger *ledger,
					      uint32_t ring)
{
	return (struct ledger_moving *)ledger->moving.at + ring;
}

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
}

/* Each block is in its chain or unused, and none is in two. With
 * GNOMON_CLAIMS. */
bool ledger_is_valid(const struct ledger *ledger);

#endif
