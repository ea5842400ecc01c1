/*
 * columns.h: reads the columns of a chunk's payload, decompressed.
 */
#ifndef GNOMON_COLUMNS_H
#define GNOMON_COLUMNS_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/trace/decode/scan.h"
#include "cli/trace/decode/cursor.h"

#define COLUMNS_MAX 9
/* Padding: this many bytes after the end of any column are readable. They
 * belong to the next columns, or are 0. */
#define COLUMNS_PAD 4096

/* Decompression state and memory, reused from chunk to chunk. */
struct inflater {
	struct ZSTD_DCtx_s *zstd;
	uint8_t *buffer;
	size_t capacity;
};

/*
 * The payload of a chunk, decompressed if the chunk is compressed as a whole.
 * The bytes belong to the chunk or to the inflater. -EBADMSG: the payload does
 * not match the chunk header.
 */
int inflater_payload(struct inflater *inflater, const struct chunk *chunk,
		     struct cursor *payload);
void inflater_free(struct inflater *inflater);

struct columns {
	uint64_t count;		/* entries */
	struct cursor column[COLUMNS_MAX];
	uint8_t *buffer;	/* of all columns */
	size_t capacity;
};

/*
 * Limits for a payload: at most this many entries, and at most this many bytes
 * an entry of each column; 0: no limit. Sizes are checked before decompression.
 */
struct columns_limits {
	uint64_t entries;
	unsigned entry_bytes[COLUMNS_MAX];
};

/*
 * Open `n` columns at the cursor. The payload must have at least `min` columns;
 * later columns that it lacks are empty. The columns are copies: the payload
 * and the inflater's bytes may be released. A struct columns is reused until
 * columns_free; zero it first. `limits` may be NULL. -EBADMSG: malformed.
 */
int columns_open_some(struct columns *columns, struct cursor *payload,
		      unsigned min, unsigned n,
		      const struct columns_limits *limits,
		      struct inflater *inflater);

/* The same; all `n` columns are required. */
static inline int columns_open(struct columns *columns,
			       struct cursor *payload, unsigned n,
			       struct inflater *inflater)
{
	return columns_open_some(columns, payload, n, n, NULL, inflater);
}

void columns_free(struct columns *columns);

#endif
