/*
 * store_column.h: a packed column of a chunk, read block by block
 * (STORE_BLOCK rows). Its words may be anything: what does not lie within them
 * is refused, and what else is wrong with them makes other numbers.
 */
#ifndef GNOMON_STORE_COLUMN_H
#define GNOMON_STORE_COLUMN_H

#include "cli/store/store_format.h"

/* Descriptors and what they describe: store_format.h. */
struct store_sequence {
	const uint64_t *words;
	size_t blocks;
	size_t size;		/* in words, descriptors included */
	bool delta;
};

/* Zero it first. One thread at a time. */
struct store_column_view {
	enum store_encoding encoding;
	bool constant;		/* all are `value` */
	uint64_t value;
	struct store_sequence sequence;	/* of numbers, or of codes */
	uint64_t *dictionary;	/* STORE_DICTIONARY_MAX, or NULL: never needed */
	size_t distinct;	/* of them in use, rising; 0: no dictionary */
};

/*
 * Begin with a column: `words` are borrowed for as long as it is read. Without
 * words all are `value`. `rows`: of the chunk, 1 … STORE_CHUNK_ROWS. False: the
 * words are not a column of so many rows.
 */
bool store_column_begin(struct store_column_view *view, const uint64_t *words,
			size_t size, uint64_t value, size_t rows);
void store_column_free(struct store_column_view *view);

/* STORE_BLOCK numbers of a block: with a dictionary codes, to be taken modulo
 * STORE_DICTIONARY_MAX. False: damaged. Behind the last row they are any. */
bool store_column_codes(const struct store_column_view *view, size_t block,
			uint64_t *numbers);
/* What codes of a dictionary mean. */
void store_column_decode(const struct store_column_view *view,
			 const uint64_t *codes, uint64_t *numbers,
			 size_t count);
/* Of a block's codes the numbers of some rows, each below STORE_BLOCK; with a
 * dictionary, what they mean. */
void store_column_pick(const struct store_column_view *view,
		       const uint64_t *codes, const uint16_t *rows,
		       size_t count, uint64_t *numbers);

#endif
