/*
 * cull_totals.h: sums over the blocks that were left out. The writer only.
 */
#ifndef GNOMON_CULL_TOTALS_H
#define GNOMON_CULL_TOTALS_H

#include "cli/model/core/chain.h"
#include "cli/recorder/emit/emit_totals.h"
#include "cli/recorder/books/ledger.h"
#include "cli/recorder/base/grown.h"

/* A block that is left out. */
struct cull_block {
	uint64_t size, tick, lifetime;
	struct weigh_amount amount;	/* what it stands for */
	uint32_t context, by;
	uint32_t thread;	/* serial number, */
	uint32_t ring;		/* and the ring it had */
	bool temporary;
};

/* Sums of a context and a thread; of a context and who freed; of chains that
 * began in a context. */
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
	struct grown rows;
	uint32_t count;
};

struct cull_totals {
	struct cull_rows blocks, freed, chains;
	bool has_freed;		/* who frees is known */
	struct emit_totals emit;
	uint64_t size[GT_CLASSES][GT_SIZE_VALUES];
	uint64_t lifetime[GT_CLASSES][GT_LIFETIME_VALUES];
	uint64_t count;		/* blocks in all */
	uint64_t mean;		/* of a sample: sums are in fixed point */
	uint32_t told;		/* how often */
	bool news;		/* since it was told last */
};

/* `bytes`: that rows may take a part of. 0 or -ENOMEM. */
int cull_totals_init(struct cull_totals *totals, uint64_t bytes,
		     struct chunk_out *out, struct compress *compress,
		     struct emit_node *nodes, bool has_freed, uint64_t mean);

/* False: no memory for another sum; then it may not be left out. */
bool cull_totals_add(struct cull_totals *totals,
		     const struct cull_block *block, uint64_t lifetime_ns);

/* A chain of reallocs of which no block was kept. There is to be memory for
 * the sums of its context: false, if there is none. */
bool cull_totals_reach_chain(struct cull_totals *totals, uint32_t context);
void cull_totals_chain(struct cull_totals *totals, const struct chain *chain,
		       uint64_t lifetime);

/* Writes what came since the last time. number(ring, serial): of the START of
 * a thread in the trace, 0 if it has none. */
void cull_totals_tell(struct cull_totals *totals, struct ledger *ledger,
		      uint32_t (*number)(void *owner, uint32_t ring,
					 uint32_t serial), void *owner);

#endif
