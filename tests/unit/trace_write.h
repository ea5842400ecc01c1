/*
 * trace_write.h: build traces in memory and in temporary files, for the unit
 * tests of the reader.
 */
#ifndef TESTS_TRACE_WRITE_H
#define TESTS_TRACE_WRITE_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/trace/write/compose.h"

#define TRACE_WRITE_ID UINT64_C(0x1234567890abcdef)

struct trace_write {
	struct buffer bytes;
	uint64_t sequence;
};

static inline void trace_write_begin(struct trace_write *t)
{
	t->bytes = (struct buffer){ 0 };
	t->sequence = 0;
	compose_header(&t->bytes, TRACE_WRITE_ID);
}

/* Takes the payload's memory. */
static inline void trace_write_chunk(struct trace_write *t,
				     struct chunk chunk,
				     struct buffer *payload)
{
	chunk.sequence = t->sequence++;
	compose_chunk(&t->bytes, &chunk, TRACE_WRITE_ID, payload);
	buffer_free(payload);
}

static inline void trace_write_line(struct trace_write *t, unsigned type,
				    const char *key, const char *value)
{
	struct buffer payload = { 0 };

	compose_line(&payload, key, value);
	trace_write_chunk(t, (struct chunk){ .type = type }, &payload);
}

static inline void trace_write_events(struct trace_write *t, uint32_t ring,
				      uint32_t generation, uint64_t first,
				      const struct trace_event *events,
				      size_t count, int level)
{
	struct chunk chunk = { .type = GT_EVENTS, .ring = ring,
			       .generation = generation, .first = first };
	struct buffer payload = { 0 };

	chunk.last = first;
	for (size_t i = 0; i < count; i++)
		chunk.last += records_ring_bytes(&events[i], false);
	compose_events(&payload, events, count, level);
	trace_write_chunk(t, chunk, &payload);
}

static inline void trace_write_sync(struct trace_write *t, uint64_t watermark)
{
	struct trace_sync sync = { watermark, watermark, watermark * 10,
				   watermark * 10, 0 };
	struct buffer payload = { 0 };

	compose_sync(&payload, &sync);
	trace_write_chunk(t, (struct chunk){ .type = GT_SYNC }, &payload);
}

/* A file that holds the trace; to be unlinked. */
static inline void trace_write_file(const struct trace_write *t, char *path)
{
	int fd = mkstemp(path);

	if (fd < 0 || write(fd, t->bytes.data, t->bytes.size) !=
	    (ssize_t)t->bytes.size)
		abort();
	close(fd);
}

#endif
