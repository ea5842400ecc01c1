/*
 * chunk.h: writes the trace as framed, checksummed chunks. The recorder only.
 */
#ifndef GNOMON_CHUNK_H
#define GNOMON_CHUNK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/trace/format/trace_format.h"

struct chunk_out {
	int fd;
	bool regular;		/* can be truncated */
	int err;		/* -errno of the first failure, 0 */
	uint64_t trace_id;
	uint64_t sequence;
	uint64_t start;		/* offset of the trace in the file */
	uint64_t size;		/* complete chunks from there, header
				 * included */
	uint64_t bytes[GT_CHUNK_TYPES];	/* by type */
	uint8_t *buffer;	/* GT_CHUNK_SIZE, then room for a payload */
	size_t room;
	/* for a file that only this recorder writes: */
	bool reserves;		/* keep room for the closing chunks */
	bool last_words;	/* closing chunks now use that room */
	uint64_t reserved;	/* offset up to which space is allocated */
	uint64_t limit;		/* of the file's size */
	uint64_t last;		/* bytes kept for the closing chunks */
};

/* Ring and positions of a chunk, for its header. */
struct chunk_range {
	uint32_t ring, generation;
	uint64_t first, last;
};

/* The descriptor is open; the buffer's memory comes from zeroed_alloc. Writes
 * the header of the trace. 0 or -errno. */
int chunk_open(struct chunk_out *out, int fd, uint64_t trace_id, size_t room);

/* Starts another file with its header; byte counts continue. 0 or -errno. */
int chunk_begin(struct chunk_out *out, int fd);

/* Where to assemble the payload of the next chunk. */
static inline uint8_t *chunk_payload(struct chunk_out *out)
{
	return out->buffer + GT_CHUNK_SIZE;
}

/*
 * Writes the chunk whose payload ends at `end`. range may be NULL. 0, or
 * -errno: the file then ends with the chunk before (if it can be truncated),
 * and nothing more is written.
 */
int chunk_write(struct chunk_out *out, enum gt_chunk_type type,
		const uint8_t *end, const struct chunk_range *range);

/* Frees allocated space that was not used. After the last chunk. */
void chunk_close(struct chunk_out *out);

/* Written and reserved sizes agree (I1, I2). With GNOMON_DEBUG_ASSERTS. */
bool chunk_out_is_valid(const struct chunk_out *out);

#endif
