/*
 * repack.h: chunks of a trace on their way into another one. Small chunks of
 * events and context nodes are joined to larger ones and everything is
 * compressed anew; names and events may be changed or left out on the way.
 *
 * What a report says is not changed by that: events stay in the order of their
 * ring, behind the nodes, images and threads that they refer to.
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
	REPACK_CODE,		/* of code made at run time */
	REPACK_SNAPSHOT,	/* also of a marker, a heap */
};

/* An event, where it lies in the trace. By its position in its ring it cannot
 * be told: what was put into a trace later takes none there. */
struct repack_place {
	uint32_t ring;
	uint32_t generation;
	uint64_t chunk;		/* of EVENTS, from 0, */
	uint64_t index;		/* in it, but for repetitions */
};

struct repack;
struct repack_stream;

/* What is to be changed; what is NULL stays as it is. */
struct repack_change {
	void *owner;
	/* A line of INFO, COUNTERS or END. Returns whether it stays; the new
	 * value, if it is to have another one, is put into `changed`. */
	bool (*line)(void *owner, unsigned type, const char *key,
		     const char *value, struct buffer *changed);
	/* What else INFO is to say, as lines. */
	void (*info)(void *owner, struct buffer *lines);
	/* The new name, to be added to the buffer, which is empty. */
	void (*name)(void *owner, enum repack_name what, const char *name,
		     size_t size, struct buffer *changed);
	/* A look at each image as it was. */
	void (*image)(void *owner, const struct trace_image *image);
	uint64_t (*trace_id)(void *owner, uint64_t trace_id);
	/* Of a file that was mapped. */
	uint64_t (*inode)(void *owner, uint64_t device, uint64_t inode);
	/* In place. */
	void (*build_id)(void *owner, uint8_t *build_id, size_t size);
	/* Whoever wants to see the events puts those that stay to the stream:
	 * repack_put. Their arguments may be changed in place. */
	void (*event)(void *owner, struct repack *repack,
		      struct repack_stream *stream,
		      const struct repack_place *place,
		      struct trace_event *event);
	/* Whether a node stays; none that others refer to may go. */
	bool (*node)(void *owner, uint32_t id);
	/* Whether an embedded file stays as it is. */
	bool (*file)(void *owner, const struct trace_file *piece);
	/* A look at a CONTROL chunk before it is written. */
	void (*control)(void *owner, struct repack *repack,
			struct cursor payload);
	/* Whether a TOTALS chunk stays. */
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
	struct trace_node *nodes;	/* pending, before the events */
	size_t node_count;
	size_t node_capacity;
	uint64_t sequence;		/* of the next chunk of the input */
	bool ended;			/* an END chunk came */
	bool part;			/* of a longer recording, as INFO says */
	uint64_t events_in, events_out;
	uint64_t event_chunks;		/* so far */
	uint64_t said_events;		/* by END, of the input */
	uint64_t lost_bytes;		/* of rings, that no chunk holds */
	struct inflater inflater;
	struct event_decoder decoder;
	struct columns columns;
	struct buffer payload, flushed, column, changed;	/* scratch */
	char line[RECORDS_LINE_MAX];
};

void repack_open(struct repack *repack, struct rewrite *out,
		 const struct repack_change *change);
/* The next chunk of the input. False: its content made no sense; what did was
 * taken. */
bool repack_chunk(struct repack *repack, const struct chunk *chunk);
/* One event more behind those that the stream has. */
void repack_put(struct repack *repack, struct repack_stream *stream,
		const struct trace_event *event);
/* All that is pending: to be called before chunks are put behind it. */
void repack_flush(struct repack *repack);
void repack_close(struct repack *repack);

#endif
