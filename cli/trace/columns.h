/*
 * columns.h: the column framing inside a payload, and decompression.
 */
#ifndef GNOMON_COLUMNS_H
#define GNOMON_COLUMNS_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/trace/scan.h"
#include "cli/trace/cursor.h"

#define COLUMNS_MAX 7

/* Decompression state and memory, reused from chunk to chunk. */
struct inflater {
	struct ZSTD_DCtx_s *zstd;
	uint8_t *buffer;
	size_t capacity;
};

/*
 * The payload of a chunk, decompressed if it is compressed as a whole. The
 * bytes belong to the chunk or to the inflater.
 * -EBADMSG: it is not what the header says.
 */
int inflater_payload(struct inflater *inflater, const struct chunk *chunk,
		     struct cursor *payload);
void inflater_free(struct inflater *inflater);

struct columns {
	uint64_t count;		/* entries */
	struct cursor column[COLUMNS_MAX];
	uint8_t *buffer;	/* what had to be decompressed */
	size_t capacity;
};

/*
 * Open `n` columns at the cursor, of which the payload has at least `least`;
 * the others are empty where it ends before them. They may point into the
 * payload, which has to stay. A struct columns is reused until columns_free;
 * zero it first. -EBADMSG: malformed.
 */
int columns_open_some(struct columns *columns, struct cursor *payload,
		      unsigned least, unsigned n, struct inflater *inflater);

/* All of them have to be there. */
static inline int columns_open(struct columns *columns,
			       struct cursor *payload, unsigned n,
			       struct inflater *inflater)
{
	return columns_open_some(columns, payload, n, n, inflater);
}

void columns_free(struct columns *columns);

#endif
