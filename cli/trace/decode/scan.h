/*
 * scan.h: splits a trace into chunks, checks each, and resynchronises after
 * damaged bytes.
 */
#ifndef GNOMON_SCAN_H
#define GNOMON_SCAN_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/trace/decode/source.h"

#define SCAN_DAMAGE_SHOWN 16	/* reported one by one */

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
	bool no_pointers;	/* major version 1: of threads; see records.h */
	bool steps;		/* major versions 1 and 2: EVENTS have kinds
				 * with stamps, and no ages */
	const uint8_t *payload;		/* valid until the next chunk */
};

enum scan_damage_kind {
	SCAN_TORN,		/* the file ends inside a chunk */
	SCAN_CORRUPT,		/* bytes that are no valid chunk */
	SCAN_MISSING,		/* sequence numbers left out */
	SCAN_UNREADABLE	/* read error */
};

struct scan_damage {
	enum scan_damage_kind kind;
	uint64_t offset;
	uint64_t size;		/* bytes skipped, or chunks missing */
};

struct scan {
	struct source source;
	uint64_t trace_id;
	unsigned major, minor;
	uint64_t sequence;	/* expected next */
	uint64_t good_end;	/* end of the last valid chunk */
	struct scan_damage damage[SCAN_DAMAGE_SHOWN];
	uint64_t damage_count;	/* may exceed SCAN_DAMAGE_SHOWN */
	uint64_t resync_budget;
	uint64_t pending_size;	/* of the chunk last returned */
	bool lost;		/* bytes from `lost_from` on are no chunk */
	bool torn;		/* they begin like one */
	uint64_t lost_from;
	bool waits;		/* for a growing source to have more bytes */
};

enum scan_open_result {
	SCAN_OPEN_OK,
	SCAN_OPEN_EMPTY,	/* no bytes at all */
	SCAN_OPEN_FOREIGN,	/* another kind of file */
	SCAN_OPEN_TOO_NEW,	/* `major` says which version */
	SCAN_OPEN_DAMAGED,	/* a trace header, cut or corrupt */
	SCAN_OPEN_ERROR	/* source.error says why */
};

/* Takes over `fd`, also on failure. Call scan_close in any case. */
enum scan_open_result scan_open(struct scan *reader, int fd);
/* The same for a source that is fed: source_open_fed of `reader->source`; the
 * other members are zero. Call it once the source has a header, or has
 * ended. */
enum scan_open_result scan_open_fed(struct scan *reader);
/* Whether a source that is fed has a whole header, as far as is known. */
bool scan_has_header(const struct scan *reader);
/* For a growing file: returns whether its size changed. Then all bytes
 * after the last chunk are read again: the recorder may have changed them. */
bool scan_peek(struct scan *reader);
/* For a regular file, to take samples: continue at an offset not before the
 * last chunk returned, with the chunk that begins there or the next one. The
 * bytes between are reported as damage. */
void scan_jump(struct scan *reader, uint64_t offset);
/* The source grows no more; its present end is final. */
void scan_end(struct scan *reader);
/* The next valid chunk. False at the end; then check `damage_count`. Also false
 * while it `waits`. */
bool scan_next(struct scan *reader, struct chunk *chunk);
void scan_close(struct scan *reader);

/* The chunk that begins at this offset of a regular file, if it is valid. Its
 * payload is read into *buffer, which holds *capacity bytes and grows. The
 * caller frees it. */
bool scan_chunk_at(int fd, uint64_t trace_id, uint64_t offset,
		   uint8_t **buffer, size_t *capacity, struct chunk *chunk);

/* The checksum of a chunk header of GT_CHUNK_SIZE bytes and its payload. */
uint64_t scan_checksum(const uint8_t *header, const uint8_t *payload,
			uint32_t stored, uint64_t trace_id);

const char *scan_type_name(unsigned type);

#endif
