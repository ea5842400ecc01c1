/*
 * store_filter.h: evaluates a scan's terms and moments for a whole chunk and
 * for the rows of a block. Private to the store.
 */
#ifndef GNOMON_STORE_FILTER_H
#define GNOMON_STORE_FILTER_H

#include "cli/store/store_chunk_reader.h"
#include "cli/store/store_scan.h"

/* A scan's terms, and moments as terms if there is only one. */
#define STORE_FILTER_TERMS (STORE_TERMS_MAX + 4)

enum store_verdict {
	STORE_NO_ROW,
	STORE_SOME_ROWS,
	STORE_ALL_ROWS
};

struct store_filter_term {
	const struct store_term *term;
	uint8_t *codes;		/* by code of the chunk's dictionary: whether
				 * its value is selected */
	bool by_code;
};

struct store_filter {
	const struct store_scan *scan;
	struct store_chunk_reader *reading;
	struct store_term terms[STORE_FILTER_TERMS];
	struct store_range bounds[4];	/* of terms made from moments */
	size_t term_count;
	struct store_filter_term asked[STORE_FILTER_TERMS];	/* to check row
								 * by row */
	size_t asked_count;
	bool moments[2];	/* to check row by row: scan->alive */
	uint8_t *codes;		/* STORE_DICTIONARY_MAX for each term, or NULL */
};

/* The scan and the reading are borrowed. */
void store_filter_init(struct store_filter *filter,
		       const struct store_scan *scan,
		       struct store_chunk_reader *reading);
void store_filter_free(struct store_filter *filter);

/* Whether a chunk may have selected rows, by its bounds: nothing is read. */
enum store_verdict store_filter_bounds(const struct store_filter *filter,
				       const struct store_chunk *chunk);
/* The same for the current chunk of the reading. *error: see
 * store_chunk_reader_load. */
enum store_verdict store_filter_chunk(struct store_filter *filter, int *error);
/* For a block of it: keep[i] are 1; clears those of rows that are not selected.
 * 0, or a negative errno. */
int store_filter_block(struct store_filter *filter, size_t block,
		       uint8_t *keep);

#endif
