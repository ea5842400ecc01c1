/*
 * chunk.h: a trace as a row of chunks. Finds them, checks them, and goes on
 * behind what is damaged.
 */
#ifndef GNOMON_CHUNK_H
#define GNOMON_CHUNK_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/trace/source.h"

#define CHUNK_DAMAGE_SHOWN 16	/* places that are told one by one */

struct chunk {
	unsigned type;
	unsigned flags;
	uint32_t stored;
	uint32_t raw;
	uint32_t ring;
	uint32_t generation;
	uint64_t first;
	uint64_t last;
	uint64_t sequence;
	uint64_t offset;		/* in the file */
	const uint8_t *payload;		/* valid until the next chunk */
};

enum chunk_damage_kind {
	CHUNK_TORN,		/* the file ends inside a chunk */
	CHUNK_CORRUPT,		/* bytes that are no valid chunk */
	CHUNK_MISSING,		/* sequence numbers left out */
	CHUNK_UNREADABLE	/* read error */
};

struct chunk_damage {
	enum chunk_damage_kind kind;
	uint64_t offset;
	uint64_t size;		/* bytes skipped, or chunks missing */
};

struct chunk_reader {
	struct source source;
	uint64_t trace_id;
	unsigned major, minor;
	uint64_t sequence;	/* expected next */
	uint64_t good_end;	/* offset behind the last valid chunk */
	struct chunk_damage damage[CHUNK_DAMAGE_SHOWN];
	uint64_t damage_count;	/* may be larger than what is kept */
	uint64_t resync_budget;
	uint64_t pending_offset, pending_size;
};

enum chunk_open_result {
	CHUNK_OPEN_OK,
	CHUNK_OPEN_EMPTY,	/* no bytes at all */
	CHUNK_OPEN_FOREIGN,	/* another kind of file */
	CHUNK_OPEN_TOO_NEW,	/* `major` says which version */
	CHUNK_OPEN_DAMAGED,	/* a header of ours, cut or corrupt */
	CHUNK_OPEN_ERROR	/* source.error says why */
};

/* Takes over `fd`, also when it fails; chunk_close in any case. */
enum chunk_open_result chunk_open(struct chunk_reader *reader, int fd);
/* The next valid chunk. False at the end; then look at `damage_count`. */
bool chunk_next(struct chunk_reader *reader, struct chunk *chunk);
void chunk_close(struct chunk_reader *reader);

/* The checksum of a chunk header of GT_CHUNK_SIZE bytes and its payload. */
uint64_t chunk_checksum(const uint8_t *header, const uint8_t *payload,
			uint32_t stored, uint64_t trace_id);

const char *chunk_type_name(unsigned type);

#endif
