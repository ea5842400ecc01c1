/*
 * store_chunk_reader.h: reads the columns of chunks, block by block; each
 * column is read and decompressed when it is first needed. Private to the
 * store.
 */
#ifndef GNOMON_STORE_CHUNK_READER_H
#define GNOMON_STORE_CHUNK_READER_H

#include "cli/store/store_column.h"
#include "cli/store/store_file.h"

struct store_chunk_reader_column {
	uint64_t *words;	/* as they are in the file */
	size_t capacity;	/* in words */
	struct store_column_view view;
	bool loaded;		/* for this chunk */
	size_t block;		/* block of `codes`; SIZE_MAX: none */
	uint64_t codes[STORE_BLOCK];
};

/* For one thread. About 200 KiB, and the size of the columns in the file. */
struct store_chunk_reader {
	struct store *store;
	uint64_t now;		/* end of live blocks' lifetimes */
	const struct store_chunk *chunk;
	struct store_chunk_reader_column columns[STORE_STORED];
	uint64_t value_block[STORE_COLUMNS];	/* likewise, block of
						 * `values` */
	uint64_t values[STORE_COLUMNS][STORE_BLOCK];
	uint64_t differences[STORE_BLOCK];	/* temporary */
};

/* Never NULL. */
struct store_chunk_reader *store_chunk_reader_new(struct store *store,
						  uint64_t now);
void store_chunk_reader_free(
	struct store_chunk_reader *reading); /* NULL is allowed */
/* Go to a chunk. Nothing is read. */
void store_chunk_reader_go(struct store_chunk_reader *reading,
			   const struct store_chunk *chunk);

/* Number of rows of a block, at least one. */
static inline size_t
store_chunk_reader_rows(const struct store_chunk_reader *reading, size_t block)
{
	size_t left = reading->chunk->rows - block * STORE_BLOCK;

	return left < STORE_BLOCK ? left : STORE_BLOCK;
}

/* Read a stored column of the chunk. 0, -errno or -EBADMSG; noted. */
int store_chunk_reader_load(struct store_chunk_reader *reading,
			    enum store_column column);
/* The stored numbers of a block of a loaded column: values, differences, or
 * codes of a dictionary. NULL: damaged, which is noted. */
const uint64_t *store_chunk_reader_codes(struct store_chunk_reader *reading,
					 enum store_column column,
					 size_t block);
/* All values of a block, of any column. On error returns NULL and sets *error
 * as above. */
const uint64_t *store_chunk_reader_values(struct store_chunk_reader *reading,
					  enum store_column column,
					  size_t block, int *error);
/* The values of some rows of a block. */
int store_chunk_reader_pick(struct store_chunk_reader *reading,
			    enum store_column column, size_t block,
			    const uint16_t *rows, size_t count,
			    uint64_t *values);

#endif
