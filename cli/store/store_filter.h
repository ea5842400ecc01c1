/*
 * store_filter.h: what a scan's terms and moments say of a chunk as a whole, and
 * of each row of a block. Private to the store.
 */
#ifndef GNOMON_STORE_FILTER_H
#define GNOMON_STORE_FILTER_H

#include "cli/store/store_reading.h"
#include "cli/store/store_scan.h"

/* Those of a scan that can be said by bounds: moments of which there is one. */
#define STORE_FILTER_TERMS (STORE_TERMS_MAX + 4)

enum store_verdict {
	STORE_NO_ROW,
	STORE_SOME_ROWS,
	STORE_ALL_ROWS
};

struct store_filter_term {
	const struct store_term *term;
	uint8_t *codes;		/* by code of the chunk's dictionary: whether
				 * it is wanted */
	bool by_code;
};

struct store_filter {
	const struct store_scan *scan;
	struct store_reading *reading;
	struct store_term terms[STORE_FILTER_TERMS];
	struct store_range bounds[4];	/* of terms for moments */
	size_t term_count;
	struct store_filter_term asked[STORE_FILTER_TERMS];	/* of rows */
	size_t asked_count;
	bool moments[2];	/* asked of rows: scan->alive */
	uint8_t *codes;		/* STORE_DICTIONARY_MAX for each term, or NULL */
};

/* The scan and the reading are borrowed. */
void store_filter_init(struct store_filter *filter,
		       const struct store_scan *scan,
		       struct store_reading *reading);
void store_filter_free(struct store_filter *filter);

/* Whether a chunk may have selected rows, by bounds: nothing is read. */
enum store_verdict store_filter_bounds(const struct store_filter *filter,
				       const struct store_chunk *chunk);
/* Of the chunk at which the reading is. *error is as store_reading_load. */
enum store_verdict store_filter_chunk(struct store_filter *filter, int *error);
/* Of its block: clears keep[i], which are 1, of rows that are not selected. 0, or
 * a negative errno. */
int store_filter_block(struct store_filter *filter, size_t block,
		       uint8_t *keep);

#endif
