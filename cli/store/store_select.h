/*
 * store_select.h: the selected rows of one chunk after the other, block by
 * block: what scans and cursors are made of. Private to the store.
 */
#ifndef GNOMON_STORE_SELECT_H
#define GNOMON_STORE_SELECT_H

#include "cli/store/store_filter.h"

/* One thread's. */
struct store_select {
	const struct store_scan *scan;
	uint32_t columns;
	unsigned worker;
	struct store_reading *reading;
	struct store_filter filter;
	bool all;		/* rows of the chunk, but for scan->keep */
	uint8_t keep[STORE_BLOCK];
	uint16_t rows[STORE_BLOCK];	/* of the block, that are selected */
	uint64_t (*out)[STORE_BLOCK];	/* by column */
};

_Static_assert(STORE_BATCH == STORE_BLOCK, "a batch is of one block");

/* Never NULL; `scan` is borrowed. `worker` is told to scan->keep. */
struct store_select *store_select_new(struct store *store,
				      const struct store_scan *scan,
				      uint32_t columns, unsigned worker);
void store_select_free(struct store_select *select);	/* NULL is allowed */

/* Go to a chunk. 1: there may be selected rows; 0: there are none; else
 * -errno, noted. */
int store_select_go(struct store_select *select,
		    const struct store_chunk *chunk);
/* Those of a block, in `batch`, whose arrays are valid until the next call;
 * rows before `from` are passed over. Returns how many, or a negative errno. */
int store_select_block(struct store_select *select, size_t block,
		       uint64_t from, struct store_batch *batch);

/*
 * store_scan_each, in the caller's order of chunks: `order` has the number of
 * each; NULL: as they are. Those that `wanted` (NULL: all are) does not want,
 * asked by the worker just before, are passed over.
 */
struct store_scan_order {
	const uint32_t *order;
	bool (*wanted)(void *owner, unsigned worker,
		       const struct store_chunk *chunk);
};
int store_scan_ordered(struct store *store, const struct store_scan *scan,
		       uint32_t columns, const struct store_scan_order *order,
		       void (*each)(void *owner, unsigned worker,
				    const struct store_batch *batch),
		       void *owner);

#endif
