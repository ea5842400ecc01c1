/*
 * store_column.h: reads a compressed column of a chunk, block by block
 * (STORE_BLOCK rows). Its words are hostile input: references outside of them
 * are refused; other errors in them produce wrong numbers.
 */
#ifndef GNOMON_STORE_COLUMN_H
#define GNOMON_STORE_COLUMN_H

#include "cli/store/store_format.h"

/* Descriptors and packed numbers: store_format.h. */
struct store_sequence {
	const uint64_t *words;
	size_t blocks;
	size_t size;		/* in words, descriptors included */
	bool delta;
};

/* Zero it first. One thread at a time. */
struct store_column_view {
	enum store_encoding encoding;
	bool constant;		/* all values are `value` */
	uint64_t value;
	struct store_sequence sequence;	/* of numbers, or of dictionary codes */
	uint64_t *dictionary;	/* STORE_DICTIONARY_MAX, or NULL if never
				 * needed */
	size_t distinct;	/* of them in use, ascending; 0: no
				 * dictionary */
};

/*
 * Begin with a column: `words` are borrowed while it is read. Without words all
 * values are `value`. `rows`: of the chunk, 1 … STORE_CHUNK_ROWS. False: the
 * words are not a column of that many rows.
 */
bool store_column_begin(struct store_column_view *view, const uint64_t *words,
			size_t size, uint64_t value, size_t rows);
void store_column_free(struct store_column_view *view);

/* The STORE_BLOCK numbers of a block; with a dictionary, codes, to be taken
 * modulo STORE_DICTIONARY_MAX. Numbers after the last row are undefined. False:
 * damaged. */
bool store_column_codes(const struct store_column_view *view, size_t block,
			uint64_t *numbers);
/* Values of dictionary codes. */
void store_column_decode(const struct store_column_view *view,
			 const uint64_t *codes, uint64_t *numbers,
			 size_t count);
/* The values of some rows, each below STORE_BLOCK, from the codes of their
 * block; with or without a dictionary. */
void store_column_pick(const struct store_column_view *view,
		       const uint64_t *codes, const uint16_t *rows,
		       size_t count, uint64_t *numbers);

#endif
