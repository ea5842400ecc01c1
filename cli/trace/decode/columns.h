/*
 * columns.h: the column framing inside a payload, and decompression.
 */
#ifndef GNOMON_COLUMNS_H
#define GNOMON_COLUMNS_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/trace/decode/scan.h"
#include "cli/trace/decode/cursor.h"

#define COLUMNS_MAX 9
/* So many bytes behind the end of any column can be read: they are those of the
 * next ones, or 0. */
#define COLUMNS_PAD 4096

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
	uint8_t *buffer;	/* of all columns */
	size_t capacity;
};

/*
 * What a payload may claim: so many entries, each of so many bytes at most of
 * a column; 0: any. Nothing is decompressed before it is known to keep to it.
 */
struct columns_limits {
	uint64_t entries;
	unsigned entry_bytes[COLUMNS_MAX];
};

/*
 * Open `n` columns at the cursor, of which the payload has at least `least`;
 * the others are empty where it ends before them. All of them are copies: the
 * payload and what is in the inflater may go. A struct columns is reused until
 * columns_free; zero it first. `limits`: or NULL. -EBADMSG: malformed.
 */
int columns_open_some(struct columns *columns, struct cursor *payload,
		      unsigned least, unsigned n,
		      const struct columns_limits *limits,
		      struct inflater *inflater);

/* All of them have to be there. */
static inline int columns_open(struct columns *columns,
			       struct cursor *payload, unsigned n,
			       struct inflater *inflater)
{
	return columns_open_some(columns, payload, n, n, NULL, inflater);
}

void columns_free(struct columns *columns);

#endif
