/*
 * block_totals.h: sums over blocks as they are allocated and freed: of a whole
 * trace, of the blocks that filters select, or of a heap of the program's own.
 */
#ifndef GNOMON_BLOCK_TOTALS_H
#define GNOMON_BLOCK_TOTALS_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/model/core/weight.h"

struct totals {
	uint64_t allocations;
	uint64_t frees;
	uint64_t total_bytes;
	uint64_t live_bytes;
	uint64_t live_blocks;
	uint64_t peak_bytes;
	uint64_t peak_blocks;	/* at the moment of peak_bytes */
	uint64_t peak_stamp;
	uint64_t temporary;
	uint64_t lost;		/* blocks that ended without a free; set once
				 * everything was read */
	uint64_t unpaired;	/* events without their counterpart */
	uint64_t repaired;	/* events that came out of order */
	uint64_t epoch;		/* number of maxima so far */
	uint64_t last_stamp;
};

static inline void block_totals_begin(struct totals *totals,
				      struct weight_amount amount)
{
	totals->allocations += amount.blocks;
	totals->total_bytes += amount.bytes;
	totals->live_blocks += amount.blocks;
	totals->live_bytes += amount.bytes;
}

/* Whether this is a new maximum. */
static inline bool block_totals_peak(struct totals *totals, uint64_t stamp)
{
	if (totals->live_bytes <= totals->peak_bytes)
		return false;
	totals->peak_bytes = totals->live_bytes;
	totals->peak_blocks = totals->live_blocks;
	totals->peak_stamp = stamp;
	return true;
}

/* Frees are counted separately: not every end is a free. */
static inline void block_totals_end(struct totals *totals,
				    struct weight_amount amount)
{
	totals->live_blocks -= amount.blocks;
	totals->live_bytes -= amount.bytes;
}

#endif
