/*
 * store_select.h: the selected rows of chunks, block by block: the basis of
 * scans and cursors. Private to the store.
 */
#ifndef GNOMON_STORE_SELECT_H
#define GNOMON_STORE_SELECT_H

#include "cli/store/store_filter.h"

/* For one thread. */
struct store_select {
	const struct store_scan *scan;
	uint32_t columns;
	unsigned worker;
	struct store_chunk_reader *reading;
	struct store_filter filter;
	bool all;		/* all rows of the chunk are selected, except by
				 * scan->keep */
	uint8_t keep[STORE_BLOCK];
	uint16_t rows[STORE_BLOCK];	/* selected rows of the block */
	uint64_t (*out)[STORE_BLOCK];	/* by column */
};

_Static_assert(STORE_BATCH == STORE_BLOCK, "a batch is of one block");

/* Never NULL; `scan` is borrowed. `worker` is passed to scan->keep. */
struct store_select *store_select_new(struct store *store,
				      const struct store_scan *scan,
				      uint32_t columns, unsigned worker);
void store_select_free(struct store_select *select);	/* NULL is allowed */

/* Go to a chunk. 1: there may be selected rows; 0: there are none; otherwise
 * -errno, noted. */
int store_select_go(struct store_select *select,
		    const struct store_chunk *chunk);
/* The selected rows of a block, in `batch`, whose arrays are valid until the
 * next call; rows before `from` are skipped. Returns how many, or a negative
 * errno. */
int store_select_block(struct store_select *select, size_t block,
		       uint64_t from, struct store_batch *batch);

/*
 * store_scan_each with the caller's order of chunks: `order` has chunk numbers;
 * NULL: as in the file. Chunks for which `wanted` returns false are skipped;
 * the worker calls it just before the chunk (NULL: none are skipped).
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
