/*
 * strip_totals.h: sums over the blocks that strip drops, by context and thread.
 */
#ifndef GNOMON_STRIP_TOTALS_H
#define GNOMON_STRIP_TOTALS_H

#include <stddef.h>
#include <stdint.h>

#include "cli/base/table.h"
#include "cli/model/core/chain.h"
#include "cli/trace/write/rewrite.h"

/* A block that was left out. */
struct strip_block {
	uint32_t context;	/* its id in the trace */
	uint32_t thread;	/* number of its START, 0: unknown */
	uint32_t freed_by;	/* a context, 0: unknown */
	double weight;		/* of a sampled block: how many it stands for;
				 * else 1 */
	uint64_t size;
	uint64_t alloc;		/* stamp of the allocation */
	uint64_t lifetime;	/* ticks */
	uint64_t lifetime_ns;
	bool temporary;
	bool has_freed_by;	/* freed_by is recorded */
};

/* Keyed by a context and the row's thread number. */
struct strip_rows {
	struct trace_totals *list;
	size_t count, capacity;
	struct table by_key;
};

struct strip_totals {
	struct strip_rows rows;		/* by thread */
	double *carry;	/* of each row: fractions of blocks, not yet counted */
	size_t carry_capacity;
	struct strip_rows freed;	/* by freeing context, if known */
	struct strip_rows chains;	/* by the context of the first block;
					 * values: enum gt_chains_value */
	struct trace_classes classes;
	uint64_t blocks, bytes;		/* in total */
};

/* A zeroed struct strip_totals is empty. */
void strip_totals_add(struct strip_totals *totals,
		      const struct strip_block *block);
/* A chain of which no block is kept. */
void strip_totals_chain(struct strip_totals *totals, const struct chain *chain,
			uint64_t lifetime);
/* The own peak of a context, over all its threads. */
void strip_totals_own_peak(struct strip_totals *totals, uint32_t context,
			   uint64_t bytes, uint64_t blocks, uint64_t stamp);
/* Nothing can be added after this. */
void strip_totals_write(struct strip_totals *totals, struct rewrite *out);
void strip_totals_free(struct strip_totals *totals);

#endif
