/*
 * scan.c: header, framing and checksums of a trace; see trace_format.h.
 *
 * After bytes that are no valid chunk, the scan searches for the next offset
 * where magic, fields and checksum all match. Each attempt may hash up to
 * GT_PAYLOAD_MAX bytes, so a file full of magics could keep the reader busy for
 * days. Therefore the bytes hashed by attempts are limited.
 *
 *  I1  A chunk is returned only if its checksum is right.
 *  I2  `good_end` is the end of the last chunk returned; the recorder may still
 *      replace bytes after it.
 */
#include "cli/trace/decode/scan.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "cli/base/grow.h"
#include "cli/base/io_full.h"
#include "cli/trace/decode/cursor.h"
#include "cli/trace/format/trace_format.h"
#include "unwind/base/assertion.h"

/* Bytes hashed in vain before the scan gives up the rest of a damaged file. */
#define RESYNC_BYTES (UINT64_C(4) << 30)
/* Larger gaps between two chunks are wrong numbers, not missing chunks. */
#define SEQUENCE_LEAP (UINT64_C(1) << 40)
/* Fed sources wait only for headers up to this size. */
#define HEADER_FED_MAX 65536u

const char *scan_type_name(unsigned type)
{
	static const char *const names[] = {
		[GT_INFO] = "info", [GT_THREAD] = "thread",
		[GT_IMAGE] = "image", [GT_CONTEXT] = "context",
		[GT_EVENTS] = "events", [GT_SYNC] = "sync",
		[GT_COUNTERS] = "counters", [GT_END] = "end",
		[GT_CAPTURE] = "capture", [GT_NAMES] = "names",
		[GT_MAPS] = "maps",
		[GT_USAGE] = "usage", [GT_SNAPSHOT] = "snapshot",
		[GT_FILE] = "file", [GT_TOTALS] = "totals",
		[GT_FREED] = "freed", [GT_CONTROL] = "control",
		[GT_LIVE] = "live", [GT_CHAINS] = "chains",
	};

	if (type >= sizeof(names) / sizeof(names[0]) || names[type] == NULL)
		return "unknown";
	return names[type];
}

uint64_t scan_checksum(const uint8_t *header, const uint8_t *payload,
			uint32_t stored, uint64_t trace_id)
{
	XXH64_state_t state;

	XXH64_reset(&state, trace_id);
	XXH64_update(&state, header, GT_CHUNK_SIZE - 8);
	XXH64_update(&state, payload, stored);
	return XXH64_digest(&state);
}

/* The header of a newer minor version may be longer, and has its own length. It
 * is skipped in pieces, so that no memory is allocated for its size. */
static bool skip_header(struct source *source, uint32_t size)
{
	while (size > 0) {
		size_t piece = source_fill(source, 1);

		if (piece == 0)
			return false;
		if (piece > size)
			piece = size;
		DEBUG_ASSERT(piece > 0 && piece <= size);
		source_skip(source, piece);
		size -= (uint32_t)piece;
	}
	return true;
}

/* The header's own length. */
static uint32_t header_size(const uint8_t *header)
{
	struct cursor c = cursor_over(header, GT_HEADER_SIZE);

	cursor_bytes(&c, GT_MAGIC_SIZE + 4);
	return cursor_u32(&c);
}

static enum scan_open_result open_header(struct scan *reader)
{
	struct cursor c;
	uint32_t size;
	uint64_t sum;

	reader->resync_budget = RESYNC_BYTES;
	source_fill(&reader->source, GT_HEADER_SIZE);
	if (reader->source.error != 0)
		return SCAN_OPEN_ERROR;
	if (reader->source.available == 0)
		return SCAN_OPEN_EMPTY;
	if (reader->source.available < GT_MAGIC_SIZE ||
	    memcmp(reader->source.data, GT_MAGIC, GT_MAGIC_SIZE) != 0)
		return SCAN_OPEN_FOREIGN;
	if (reader->source.available < GT_HEADER_SIZE)
		return SCAN_OPEN_DAMAGED;
	c = cursor_over(reader->source.data, GT_HEADER_SIZE);
	cursor_bytes(&c, GT_MAGIC_SIZE);
	reader->major = cursor_u16(&c);
	reader->minor = cursor_u16(&c);
	size = cursor_u32(&c);
	reader->trace_id = cursor_u64(&c);
	sum = cursor_u64(&c);
	if (sum != XXH64(reader->source.data, GT_HEADER_SIZE - 8, 0))
		return SCAN_OPEN_DAMAGED;
	if (reader->major > GT_MAJOR)
		return SCAN_OPEN_TOO_NEW;
	if (size < GT_HEADER_SIZE || !skip_header(&reader->source, size))
		return SCAN_OPEN_DAMAGED;
	reader->good_end = size;
	return SCAN_OPEN_OK;
}

enum scan_open_result scan_open(struct scan *reader, int fd)
{
	memset(reader, 0, sizeof(*reader));
	source_open(&reader->source, fd);
	return open_header(reader);
}

bool scan_has_header(const struct scan *reader)
{
	const struct source *source = &reader->source;
	uint32_t size;

	if (!source->growing)
		return true;
	if (source->available < GT_HEADER_SIZE)
		return false;
	/* a newer minor's may be longer; beyond the limit it is no trace */
	size = header_size(source->data);
	return size > HEADER_FED_MAX || source->available >= size;
}

enum scan_open_result scan_open_fed(struct scan *reader)
{
	DEBUG_ASSERT(scan_has_header(reader));
	return open_header(reader);
}

static void note_damage(struct scan *reader,
			enum scan_damage_kind kind, uint64_t offset,
			uint64_t size)
{
	if (reader->damage_count < SCAN_DAMAGE_SHOWN)
		reader->damage[reader->damage_count] =
			(struct scan_damage){ kind, offset, size };
	reader->damage_count++;
}

/* The fields of a chunk header; false if they are invalid. */
static bool parse_fields(const uint8_t *header, uint64_t offset,
			 struct chunk *chunk, uint64_t *sum)
{
	struct cursor c = cursor_over(header, GT_CHUNK_SIZE);

	if (cursor_u32(&c) != GT_CHUNK_MAGIC)
		return false;
	chunk->type = cursor_u16(&c);
	chunk->flags = cursor_u16(&c);
	chunk->stored = cursor_u32(&c);
	chunk->raw = cursor_u32(&c);
	chunk->ring = cursor_u32(&c);
	chunk->generation = cursor_u32(&c);
	chunk->first = cursor_u64(&c);
	chunk->last = cursor_u64(&c);
	chunk->sequence = cursor_u64(&c);
	*sum = cursor_u64(&c);
	chunk->offset = offset;
	chunk->no_pointers = chunk->steps = false;
	return chunk->stored <= GT_PAYLOAD_MAX &&
		chunk->raw <= GT_PAYLOAD_MAX && chunk->first <= chunk->last &&
		chunk->sequence < SEQUENCE_LEAP;
}

enum attempt { ATTEMPT_CHUNK, ATTEMPT_NOT, ATTEMPT_CUT };

/* Is there a chunk at the start of the window? */
static enum attempt try_chunk(struct scan *reader,
			      struct chunk *chunk)
{
	struct source *source = &reader->source;
	uint64_t sum;

	if (source_fill(source, GT_CHUNK_SIZE) < GT_CHUNK_SIZE)
		return ATTEMPT_CUT;
	if (!parse_fields(source->data, source->offset, chunk, &sum))
		return ATTEMPT_NOT;
	chunk->no_pointers = reader->major < 2;
	chunk->steps = reader->major < 3;
	if (source_fill(source, GT_CHUNK_SIZE + (size_t)chunk->stored) <
	    GT_CHUNK_SIZE + (size_t)chunk->stored)
		return ATTEMPT_CUT;
	chunk->payload = source->data + GT_CHUNK_SIZE;
	if (scan_checksum(source->data, chunk->payload, chunk->stored,
			   reader->trace_id) == sum)
		return ATTEMPT_CHUNK;
	reader->resync_budget -= chunk->stored < reader->resync_budget ?
		chunk->stored : reader->resync_budget;
	return ATTEMPT_NOT;
}

/* Move the window to the next byte that may start a chunk. */
static void skip_to_magic(struct source *source)
{
	const uint8_t *found;

	if (source->available > 0)
		source_skip(source, 1);
	while (source_fill(source, GT_CHUNK_SIZE) > 0) {
		found = memchr(source->data, GT_CHUNK_MAGIC & 0xff,
			       source->available);
		if (found != NULL) {
			source_skip(source, (size_t)(found - source->data));
			return;
		}
		source_skip(source, source->available);
	}
}

/* The window is at a valid chunk: account for the bytes before it. */
static void accept(struct scan *reader, const struct chunk *chunk,
		   uint64_t skipped_from)
{
	DEBUG_ASSERT(chunk->offset >= skipped_from);
	DEBUG_ASSERT(chunk->offset >= reader->good_end);	/* I2 */
	if (chunk->offset > skipped_from)
		note_damage(reader, SCAN_CORRUPT, skipped_from,
			    chunk->offset - skipped_from);
	else if (chunk->sequence > reader->sequence)
		note_damage(reader, SCAN_MISSING, chunk->offset,
			    chunk->sequence - reader->sequence);
	reader->sequence = chunk->sequence + 1;
	reader->pending_size = GT_CHUNK_SIZE + (uint64_t)chunk->stored;
	reader->good_end = chunk->offset + reader->pending_size;
	DEBUG_ASSERT(reader->pending_size <= reader->source.available);
}

/* There are no more bytes, for now or at all. */
static bool nothing_left(struct scan *reader)
{
	struct source *source = &reader->source;

	if (source_fill(source, 1) > 0)
		return false;
	reader->waits = source->growing && source->error == 0;
	if (source->error != 0)
		note_damage(reader, SCAN_UNREADABLE, source->offset, 0);
	return true;
}

/* Search for a chunk from the start of the window on. */
static enum attempt seek_chunk(struct scan *reader, struct chunk *chunk)
{
	struct source *source = &reader->source;
	enum attempt attempt = try_chunk(reader, chunk);

	while (attempt != ATTEMPT_CHUNK) {
		if (attempt == ATTEMPT_CUT && source->growing &&
		    source->error == 0)
			break;
		if (!reader->lost)
			reader->torn = attempt == ATTEMPT_CUT;
		reader->lost = true;
		if (reader->resync_budget == 0 || source_fill(source, 1) == 0)
			break;
		skip_to_magic(source);
		attempt = try_chunk(reader, chunk);
	}
	return attempt;
}

bool scan_next(struct scan *reader, struct chunk *chunk)
{
	struct source *source = &reader->source;

	source_skip(source, reader->pending_size);
	reader->pending_size = 0;
	reader->waits = false;
	DEBUG_ASSERT(source->offset >= reader->good_end);	/* I2 */
	if (!reader->lost) {
		reader->lost_from = source->offset;
		if (nothing_left(reader))
			return false;
	}
	if (seek_chunk(reader, chunk) == ATTEMPT_CHUNK) {
		accept(reader, chunk, reader->lost_from);
		reader->lost = false;
		return true;
	}
	reader->waits = source->growing && source->error == 0 &&
			reader->resync_budget > 0;
	if (reader->waits)
		return false;
	note_damage(reader, reader->torn ? SCAN_TORN : SCAN_CORRUPT,
		    reader->lost_from,
		    source->offset + source->available - reader->lost_from);
	source_skip(source, source->available);
	reader->lost = false;
	return false;
}

static void read_anew(struct scan *reader)
{
	source_rewind(&reader->source, reader->good_end);
	/* the recorder may have withdrawn chunks */
	reader->good_end = reader->source.offset;
	reader->pending_size = 0;
	reader->lost = reader->torn = false;
}

void scan_jump(struct scan *reader, uint64_t offset)
{
	ASSERT(offset >= reader->source.offset);
	reader->good_end = offset;
	read_anew(reader);
}

bool scan_peek(struct scan *reader)
{
	struct source *source = &reader->source;

	if (source_peek(source) == source->got)
		return false;
	read_anew(reader);
	return true;
}

void scan_end(struct scan *reader)
{
	read_anew(reader);
	source_end(&reader->source);
}

bool scan_chunk_at(int fd, uint64_t trace_id, uint64_t offset,
		   uint8_t **buffer, size_t *capacity, struct chunk *chunk)
{
	uint8_t header[GT_CHUNK_SIZE];
	uint64_t sum;

	if (io_full_read_at(fd, header, sizeof(header), offset) !=
	    (ssize_t)sizeof(header) ||
	    !parse_fields(header, offset, chunk, &sum))
		return false;
	if (*capacity < chunk->stored) {
		free(*buffer);
		*buffer = grow_alloc(chunk->stored);
		*capacity = chunk->stored;
	}
	if (io_full_read_at(fd, *buffer, chunk->stored,
			    offset + GT_CHUNK_SIZE) != (ssize_t)chunk->stored ||
	    scan_checksum(header, *buffer, chunk->stored, trace_id) != sum)
		return false;
	chunk->payload = *buffer;
	return true;
}

void scan_close(struct scan *reader)
{
	source_close(&reader->source);
}
