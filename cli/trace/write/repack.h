/*
 * repack.h: copies the chunks of a trace into another one. Small chunks of
 * events and context nodes are joined into larger ones, and everything is
 * compressed anew. Names and events may be changed or dropped on the way.
 *
 * Reports stay the same: events keep the order of their ring, and follow the
 * nodes, images and threads that they refer to.
 */
#ifndef GNOMON_REPACK_H
#define GNOMON_REPACK_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/base/table.h"
#include "cli/trace/decode/map_records.h"
#include "cli/trace/decode/memory_records.h"
#include "cli/trace/write/rewrite.h"

enum repack_name {
	REPACK_PATH,		/* of an image, a mapping, an embedded file */
	REPACK_THREAD,		/* at most GT_THREAD_NAME_MAX - 1 bytes */
	REPACK_CODE,		/* of code generated at run time */
	REPACK_SNAPSHOT,	/* also of a marker, a heap */
};

/* The place of an event in the trace. Its position in the ring would not
 * identify it: events inserted later take no position there. */
struct repack_place {
	uint32_t ring;
	uint32_t generation;
	uint64_t chunk;		/* of EVENTS, from 0, */
	uint64_t index;		/* in it, without repetitions */
};

struct repack;
struct repack_stream;

/* What to change. A member that is NULL changes nothing. */
struct repack_change {
	void *owner;
	/* A line of INFO, COUNTERS or END. Returns whether to keep it; a new
	 * value, if any, is put into `changed`. */
	bool (*line)(void *owner, unsigned type, const char *key,
		     const char *value, struct buffer *changed);
	/* Adds lines to INFO. */
	void (*info)(void *owner, struct buffer *lines);
	/* Adds the new name to the buffer, which is empty. */
	void (*name)(void *owner, enum repack_name what, const char *name,
		     size_t size, struct buffer *changed);
	/* Called for each image before it is changed. */
	void (*image)(void *owner, const struct trace_image *image);
	uint64_t (*trace_id)(void *owner, uint64_t trace_id);
	/* For a file that was mapped. */
	uint64_t (*inode)(void *owner, uint64_t device, uint64_t inode);
	/* In place. */
	void (*build_id)(void *owner, uint8_t *build_id, size_t size);
	/* Called for each event, if not NULL; passes those to keep to
	 * repack_put. Their arguments may be changed in place. */
	void (*event)(void *owner, struct repack *repack,
		      struct repack_stream *stream,
		      const struct repack_place *place,
		      struct trace_event *event);
	/* Whether to keep a node. Nodes that others refer to must be kept. */
	bool (*node)(void *owner, uint32_t id);
	/* Whether to keep an embedded file as it is. */
	bool (*file)(void *owner, const struct trace_file *piece);
	/* Called for a CONTROL chunk before it is written. */
	void (*control)(void *owner, struct repack *repack,
			struct cursor payload);
	/* Whether to keep a TOTALS chunk. */
	bool (*totals)(void *owner, struct cursor payload);
};

struct repack {
	struct rewrite *out;
	const struct repack_change *change;
	struct repack_stream *streams;
	size_t stream_count;
	size_t stream_capacity;
	struct table by_ring;		/* ring -> stream */
	uint64_t pending_events;	/* of all streams */
	struct trace_node *nodes;	/* pending, written before the events */
	size_t node_count;
	size_t node_capacity;
	uint64_t sequence;		/* of the next chunk of the input */
	bool ended;			/* an END chunk was read */
	bool part;			/* of a longer recording, as INFO says */
	uint64_t events_in, events_out;
	uint64_t event_chunks;		/* so far */
	uint64_t said_events;		/* in the input's END */
	uint64_t lost_bytes;		/* of rings, that are in no chunk */
	struct inflater inflater;
	struct event_decoder decoder;
	struct columns columns;
	struct buffer payload, flushed, column, changed;	/* scratch */
	char line[RECORDS_LINE_MAX];
};

void repack_open(struct repack *repack, struct rewrite *out,
		 const struct repack_change *change);
/* The next chunk of the input. False: part of its content was malformed; the
 * rest was taken. */
bool repack_chunk(struct repack *repack, const struct chunk *chunk);
/* Append an event to the stream. */
void repack_put(struct repack *repack, struct repack_stream *stream,
		const struct trace_event *event);
/* Write all that is pending; call it before writing chunks that must follow. */
void repack_flush(struct repack *repack);
void repack_close(struct repack *repack);

#endif
