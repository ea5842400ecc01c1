/*
 * cull_totals.h: totals of the blocks that --cull leaves out. The recorder
 * only.
 */
#ifndef GNOMON_CULL_TOTALS_H
#define GNOMON_CULL_TOTALS_H

#include "cli/model/core/chain.h"
#include "cli/recorder/emit/emit_totals.h"
#include "cli/recorder/live_blocks/block_table.h"
#include "cli/recorder/base/vector.h"

/* A block that is left out. */
struct cull_block {
	uint64_t size, tick, lifetime;
	struct weight_amount amount;	/* its sample weight */
	uint32_t context, by;
	uint32_t thread;	/* serial number, */
	uint32_t ring;		/* and the ring of that thread */
	bool temporary;
};

/* Sums by context and thread; by context and freeing context; of realloc chains
 * by the context in which they began. */
#define CULL_ROW_VALUES GT_CHAINS_VALUES
struct cull_row {
	uint64_t value[CULL_ROW_VALUES];
	uint32_t context, other;
	uint32_t ring;
	uint32_t next;		/* in its bucket, 0: none */
};

/* Rows by a pair of numbers. */
struct cull_rows {
	uint32_t *heads;	/* by hash */
	struct vector rows;
	uint32_t count;
};

struct cull_totals {
	struct cull_rows blocks, freed, chains;
	bool has_freed;		/* frees have stacks */
	struct emit_totals emit;
	uint64_t size[GT_CLASSES][GT_SIZE_VALUES];
	uint64_t lifetime[GT_CLASSES][GT_LIFETIME_VALUES];
	uint64_t count;		/* blocks in all */
	uint64_t mean;		/* of a sample: sums are in fixed point */
	uint32_t reported;		/* how often they were written */
	bool news;		/* changed since then */
};

/* `bytes`: memory budget, of which the rows take a part. 0 or -ENOMEM. */
int cull_totals_init(struct cull_totals *totals, uint64_t bytes,
		     struct chunk_out *out, struct compress *compress,
		     struct emit_node *nodes, bool has_freed, uint64_t mean);

/* Adds a block. False: no memory for another row; then do not leave it out. */
bool cull_totals_add(struct cull_totals *totals,
		     const struct cull_block *block, uint64_t lifetime_ns);

/* A realloc chain without any kept block. reach: makes room for the sums of its
 * context; false: no memory. */
bool cull_totals_reach_chain(struct cull_totals *totals, uint32_t context);
void cull_totals_chain(struct cull_totals *totals, const struct chain *chain,
		       uint64_t lifetime);

/* Writes changes since the last time. number(ring, serial): the number of a
 * thread's START in the trace; 0: none. */
void cull_totals_report(struct cull_totals *totals, struct block_table *table,
			uint32_t (*number)(void *owner, uint32_t ring,
					   uint32_t serial), void *owner);

#endif
