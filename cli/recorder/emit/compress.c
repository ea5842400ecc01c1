/*
 * compress.c: chooses whether and how to compress each column (with
 * compressor.h).
 *
 * The window is small: a chunk's columns are short, and tables that fit the
 * second-level cache leave the other caches to the program's data.
 *
 * Columns have few long repetitions and much skew, so entropy coding saves
 * most, and the search for matches costs most. zstd's negative levels leave
 * literals uncoded unless told otherwise. Columns of recorded events, by level,
 * literals coded; ns and bytes an event:
 *
 *	level		cc1plus		perl		sqlite3		redis
 *	1		11.5  1.28	10.9  1.12	4.6  0.22	4.6  0.36
 *	-7		 8.6  1.44	10.9  1.21	4.6  0.24	4.6  0.40
 *	-20		 6.7  1.63	 9.6  1.30	5.1  0.27	5.0  0.48
 *	-50		 5.5  1.85	 8.0  1.42	6.4  0.27	4.9  0.61
 *
 * With many repetitions a thorough search costs nothing, as it skips the
 * matches it finds. So columns that shrink to three eighths or less are
 * searched at level -1 (level 1 except for the coding of literals), and the
 * others at -20.
 *
 * Some columns have no repetitions at all: they are not searched (a step of the
 * whole block). If entropy coding saves little as well, the column is stored
 * uncompressed. A trial at intervals chooses the method for each column.
 */
#include "cli/recorder/emit/compress.h"

#include <stdbool.h>
#include <string.h>

#include "cli/recorder/emit/varint.h"
#include "unwind/base/assertion.h"

#define COMPRESS_WINDOW_LOG 17
/* Search table for columns: 16 KiB, fits the first-level cache; and the level's
 * default size. */
#define COMPRESS_HASH_LOG 12
#define COMPRESS_HASH_DEFAULT 0
#define COMPRESS_MIN 64		/* shorter columns are stored */
#define COMPRESS_TELLING 512	/* least bytes for a trial */
#define COMPRESS_LEARNING 256	/* least bytes to learn from a result */
#define COMPRESS_TRIAL 16	/* one trial in so many columns */
/* A method must save 1/N of a column: search over coding, all over storing. */
#define COMPRESS_WORTH_SEARCH 12
#define COMPRESS_WORTH_ALL 8
/* Eighths to which a column with many repetitions shrinks at most. */
#define COMPRESS_MANY 3
#define COMPRESS_NO_SEARCH (-131072)	/* the level with the longest step */

static const struct compressor_how compress_efforts[COMPRESS_EFFORTS] = {
	[COMPRESS_SMALL] = { -20, COMPRESSOR_CODED, COMPRESS_HASH_LOG },
	[COMPRESS_MIDDLE] = { -50, COMPRESSOR_CODED,
			      COMPRESS_HASH_LOG },
	[COMPRESS_FAST] = { -50, COMPRESSOR_RAW, COMPRESS_HASH_LOG },
}, compress_skew = { COMPRESS_NO_SEARCH, COMPRESSOR_CODED,
		     COMPRESS_HASH_LOG },
   compress_well = { -1, COMPRESSOR_CODED, COMPRESS_HASH_LOG },
   compress_files = { 1, COMPRESSOR_AUTO, COMPRESS_HASH_DEFAULT };

void compress_init(struct compress *compress)
{
	compress->compressor = compressor_new(COMPRESS_WINDOW_LOG);
	compress->how = NULL;
	compress->effort = COMPRESS_SMALL;
}

/* Size of the frame at `to`, n if it would not be smaller. */
static size_t compress_frame(struct compress *compress,
			     const struct compressor_how *how, uint8_t *to,
			     const uint8_t *column, size_t n)
{
	DEBUG_ASSERT(n >= COMPRESS_MIN);
	if (how != compress->how) {
		compressor_set(compress->compressor, how);
		compress->how = how;
	}
	return compressor_pack(compress->compressor, to, column, n);
}

/* Finds the best method for a column like this one; `to` is scratch. */
static void compress_try(struct compress *compress,
			 struct compress_past *past, uint8_t *to,
			 const uint8_t *column, size_t n)
{
	size_t skew = compress_frame(compress, &compress_skew, to, column, n);
	size_t all = compress_frame(compress, &compress_well, to, column, n);

	past->left = COMPRESS_TRIAL;
	past->method = COMPRESS_SEARCHED;
	if (all <= n * COMPRESS_MANY / 8)
		past->method = COMPRESS_REPEATED;
	if (all + n / COMPRESS_WORTH_SEARCH > skew) {
		past->method = COMPRESS_CODED;
		all = skew;
	}
	if (all + n / COMPRESS_WORTH_ALL > n)
		past->method = COMPRESS_STORED;
}

/* NULL: store the column. */
static const struct compressor_how *compress_choose(
	const struct compress *compress, const struct compress_past *past)
{
	DEBUG_ASSERT(compress->effort < COMPRESS_EFFORTS);
	if (past->method == COMPRESS_STORED)
		return NULL;
	if (past->method == COMPRESS_CODED && compress->effort < COMPRESS_FAST)
		return &compress_skew;
	if (past->method == COMPRESS_REPEATED &&
	    compress->effort == COMPRESS_SMALL)
		return &compress_well;
	return &compress_efforts[compress->effort];
}

/* how NULL: store it. */
static uint8_t *compress_put(struct compress *compress,
			     const struct compressor_how *how, uint8_t *stored,
			     const uint8_t *column, size_t n)
{
	/* The frame is in its final place if its size field is as long as that
	 * of n; else it is moved. */
	uint8_t *bytes = varint_put(stored, n);
	size_t size = n;

	if (how)
		size = compress_frame(compress, how, bytes, column, n);
	DEBUG_ASSERT(size <= n);
	if (size < n) {
		uint8_t *at = varint_put(stored, size);

		if (at != bytes)
			memmove(at, bytes, size);
		return at + size;
	}
	varint_put(stored, n);
	memcpy(bytes, column, n);
	return bytes + n;
}

/* Between two trials: the compressed size of a searched column predicts whether
 * the next one has many repetitions. */
static void compress_learn(struct compress_past *past, size_t n, size_t left)
{
	size_t many = n * COMPRESS_MANY / 8;

	if (past->method == COMPRESS_SEARCHED && left <= many)
		past->method = COMPRESS_REPEATED;
	else if (past->method == COMPRESS_REPEATED &&
		 left > many + n / COMPRESS_WORTH_SEARCH)
		past->method = COMPRESS_SEARCHED;
}

uint8_t *compress_column(struct compress *compress,
			 struct compress_past *past, uint8_t *to,
			 const uint8_t *column, size_t n)
{
	const struct compressor_how *how = NULL;
	uint8_t *end;

	to = varint_put(to, n);
	DEBUG_ASSERT(past->left <= COMPRESS_TRIAL);
	if (n >= COMPRESS_MIN && compress->compressor) {
		/* after the size there is room for the whole column */
		if (n >= COMPRESS_TELLING && !past->left--)
			compress_try(compress, past, to + VARINT_MAX, column,
				     n);
		how = compress_choose(compress, past);
	}
	end = compress_put(compress, how, to, column, n);
	if (n >= COMPRESS_LEARNING)
		compress_learn(past, n, end - to);
	return end;
}

uint8_t *compress_bytes(struct compress *compress, uint8_t *to,
			const uint8_t *bytes, size_t n)
{
	bool may = n >= COMPRESS_MIN && compress->compressor;

	to = varint_put(to, n);
	return compress_put(compress, may ? &compress_files : NULL, to,
			    bytes, n);
}
