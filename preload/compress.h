/*
 * compress.h: columns of a chunk, each a zstd frame if that is smaller.
 * The writer only; memory from area_alloc at the start.
 */
#ifndef GNOMON_COMPRESS_H
#define GNOMON_COMPRESS_H

#include <stddef.h>
#include <stdint.h>

/* From small to fast. What each costs: see compress.c. */
enum compress_effort {
	COMPRESS_SMALL,
	COMPRESS_MIDDLE,
	COMPRESS_FAST,
	COMPRESS_NONE
};

struct compress {
	void *context;	/* zstd's; NULL: nothing is compressed */
	enum compress_effort effort;
};

void compress_init(struct compress *compress);

void compress_set_effort(struct compress *compress,
			 enum compress_effort effort);

/*
 * One column (preload/format.h): raw size, stored size, bytes. `to` has room
 * for COMPRESS_COLUMN_MAX(n). Returns one past the last byte written.
 */
uint8_t *compress_column(struct compress *compress, uint8_t *to,
			 const uint8_t *column, size_t n);

#define COMPRESS_COLUMN_MAX(n) ((n) + 20)

#endif
