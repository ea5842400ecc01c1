/*
 * compress.h: columns of a chunk, each a zstd frame if that is smaller.
 * The writer only; memory from zeroed_alloc at the start.
 */
#ifndef GNOMON_COMPRESS_H
#define GNOMON_COMPRESS_H

#include <stddef.h>
#include <stdint.h>

#include "cli/recorder/emit/packer.h"

/* From small to fast. What each costs: see compress.c. */
enum compress_effort {
	COMPRESS_SMALL,
	COMPRESS_MIDDLE,
	COMPRESS_FAST,
	COMPRESS_EFFORTS
};

struct compress {
	void *packer;	/* NULL: nothing is compressed */
	const struct packer_how *how;	/* it is set to */
	enum compress_effort effort;
};

enum compress_method {
	COMPRESS_SEARCHED,	/* for repetitions */
	COMPRESS_REPEATED,	/* there are many: searched for everywhere */
	COMPRESS_CODED,		/* by how often each byte occurs */
	COMPRESS_STORED
};

/* What paid for the last columns of a kind. All 0 at first. */
struct compress_past {
	uint8_t method;		/* enum compress_method */
	uint8_t left;		/* columns until the next trial */
};

void compress_init(struct compress *compress);

/*
 * One column (trace_format.h): raw size, stored size, bytes. `to` has room
 * for COMPRESS_COLUMN_MAX(n). Returns one past the last byte written.
 */
uint8_t *compress_column(struct compress *compress,
			 struct compress_past *past, uint8_t *to,
			 const uint8_t *column, size_t n);

/* The same of bytes that are no column of ours (a piece of a file): smaller,
 * at some 4 ns a byte, and always the same way. */
uint8_t *compress_bytes(struct compress *compress, uint8_t *to,
			const uint8_t *bytes, size_t n);

#define COMPRESS_COLUMN_MAX(n) ((n) + 20)

#endif
