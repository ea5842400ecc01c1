/*
 * store_reading.h: the columns of one chunk after the other, block by block,
 * each read and unpacked when it is first asked for. Private to the store.
 */
#ifndef GNOMON_STORE_READING_H
#define GNOMON_STORE_READING_H

#include "cli/store/store_column.h"
#include "cli/store/store_file.h"

struct store_reading_column {
	uint64_t *words;	/* as they are in the file */
	size_t capacity;	/* of them */
	struct store_column_view view;
	bool loaded;		/* of this chunk */
	size_t block;		/* that `codes` are of; SIZE_MAX: none */
	uint64_t codes[STORE_BLOCK];
};

/* One thread's. About 200 KiB, and what columns take in the file. */
struct store_reading {
	struct store *store;
	uint64_t now;		/* lifetimes of live blocks end here */
	const struct store_chunk *chunk;
	struct store_reading_column columns[STORE_STORED];
	uint64_t value_block[STORE_COLUMNS];	/* likewise, of `values` */
	uint64_t values[STORE_COLUMNS][STORE_BLOCK];
	uint64_t differences[STORE_BLOCK];	/* of the moment */
};

/* Never NULL. */
struct store_reading *store_reading_new(struct store *store, uint64_t now);
void store_reading_free(struct store_reading *reading);	/* NULL is allowed */
/* Go to a chunk. Nothing is read. */
void store_reading_go(struct store_reading *reading,
		      const struct store_chunk *chunk);

/* Rows of a block, which has some. */
static inline size_t store_reading_rows(const struct store_reading *reading,
					size_t block)
{
	size_t left = reading->chunk->rows - block * STORE_BLOCK;

	return left < STORE_BLOCK ? left : STORE_BLOCK;
}

/* Read a stored column of the chunk. 0, -errno, -EBADMSG; noted. */
int store_reading_load(struct store_reading *reading,
		       enum store_column column);
/* A loaded column's numbers of a block before what is made of them:
 * differences, or codes of a dictionary. NULL: damaged, which is noted. */
const uint64_t *store_reading_codes(struct store_reading *reading,
				    enum store_column column, size_t block);
/* All values of a block, of any column. *error as above, with NULL. */
const uint64_t *store_reading_values(struct store_reading *reading,
				     enum store_column column, size_t block,
				     int *error);
/* Those of some rows of it. */
int store_reading_pick(struct store_reading *reading,
		       enum store_column column, size_t block,
		       const uint16_t *rows, size_t count, uint64_t *values);

#endif
