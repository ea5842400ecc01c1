/*
 * compress.h: compresses the columns of a chunk, each to a zstd frame if that
 * is smaller. The recorder only; memory from zeroed_alloc at the start.
 */
#ifndef GNOMON_COMPRESS_H
#define GNOMON_COMPRESS_H

#include <stddef.h>
#include <stdint.h>

#include "cli/recorder/emit/compressor.h"

/* From smallest to fastest; compress.c has the costs. */
enum compress_effort {
	COMPRESS_SMALL,
	COMPRESS_MIDDLE,
	COMPRESS_FAST,
	COMPRESS_EFFORTS
};

struct compress {
	void *compressor;	/* NULL: nothing is compressed */
	const struct compressor_how *how;	/* current setting */
	enum compress_effort effort;
};

enum compress_method {
	COMPRESS_SEARCHED,	/* searched for repetitions */
	COMPRESS_REPEATED,	/* has many: searched thoroughly */
	COMPRESS_CODED,		/* entropy coding only */
	COMPRESS_STORED
};

/* The best method for recent columns of one kind. All 0 at first. */
struct compress_past {
	uint8_t method;		/* enum compress_method */
	uint8_t left;		/* columns until the next trial */
};

void compress_init(struct compress *compress);

/*
 * Writes one column (trace_format.h): raw size, stored size, bytes. `to` has
 * room for COMPRESS_COLUMN_MAX(n). Returns one past the last byte written.
 */
uint8_t *compress_column(struct compress *compress,
			 struct compress_past *past, uint8_t *to,
			 const uint8_t *column, size_t n);

/* The same for other bytes (a piece of a file): smaller output, at some 4 ns a
 * byte, always by the same method. */
uint8_t *compress_bytes(struct compress *compress, uint8_t *to,
			const uint8_t *bytes, size_t n);

#define COMPRESS_COLUMN_MAX(n) ((n) + 20)

#endif
