/*
 * records.h: decoded trace records: threads, images, context nodes, events, …
 * All addresses are the target's and therefore uint64_t.
 */
#ifndef GNOMON_RECORDS_H
#define GNOMON_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/trace/decode/columns.h"
#include "cli/trace/format/event.h"
#include "cli/trace/format/ring_record.h"
#include "cli/trace/format/trace_format.h"

struct trace_thread {
	unsigned what;		/* enum gt_thread_what */
	uint32_t ring;
	uint32_t tid;
	uint32_t flags;		/* enum gt_thread_flags */
	uint64_t stamp;
	const char *name;	/* not terminated */
	size_t name_size;
	uint64_t pointer;	/* START: its thread pointer, 0: unknown */
};

/* How the thread of a ring was captured. Values that the trace lacks are 0. */
struct trace_capture {
	uint32_t ring;
	uint64_t value[GT_CAPTURE_VALUES];	/* by enum gt_capture_value */
};

struct trace_segment {
	uint64_t start;
	uint64_t size;
	uint64_t offset;	/* in the file */
	uint32_t flags;		/* ELF p_flags */
};

struct trace_image {
	unsigned what;		/* enum gt_image_what */
	uint32_t index;
	uint32_t flags;		/* enum gt_image_flags */
	uint32_t first_node;
	uint32_t end_node;	/* GT_IMAGE_GONE only */
	uint64_t bias;
	unsigned segment_count;
	struct trace_segment segments[GL_SEGMENTS_MAX];
	const uint8_t *build_id;
	size_t build_id_size;
	const char *path;	/* not terminated */
	size_t path_size;
};

struct trace_node {
	uint32_t id;
	uint32_t parent;
	uint64_t address;
};

struct trace_sync {
	uint64_t watermark;
	uint64_t ticks;
	uint64_t monotonic_ns;
	uint64_t realtime_ns;
	uint64_t dropped;
};

/*
 * Each reads one record and returns true, or false at the end; then cursor->bad
 * says whether the payload ended inside a record.
 *
 * no_pointers: as in traces of major version 1, whose STARTs have no thread
 * pointer.
 */
bool records_thread(struct cursor *c, bool no_pointers,
		    struct trace_thread *thread);
bool records_capture(struct cursor *c, struct trace_capture *capture);
bool records_image(struct cursor *c, struct trace_image *image);
bool records_sync(struct cursor *c, struct trace_sync *sync);
/* A "key=value" line. Both texts are unescaped and terminated, and point into
 * `line`, which holds RECORDS_LINE_MAX bytes. A NUL byte, which ends an
 * argument of a command line, becomes RECORDS_NUL. A RECORDS_NUL of the text,
 * which is very rare, becomes a blank. */
#define RECORDS_NUL '\x1f'
#define RECORDS_LINE_MAX 16384
bool records_line(struct cursor *c, char *line, const char **key,
		  const char **value);

/* Whether an EVENTS payload has no GT_EXTRA; then *events is the number of its
 * events. Nothing is decompressed. */
bool records_no_extras(struct cursor payload, uint64_t *events);

/* Nodes of a CONTEXT chunk, one after the other. */
struct node_decoder {
	struct columns columns;
	uint64_t left;
	struct trace_node previous;
};
int node_decoder_open(struct node_decoder *decoder, struct cursor *payload,
		      struct inflater *inflater);
bool node_decoder_next(struct node_decoder *decoder, struct trace_node *node,
		       bool *bad);

/* Events of an EVENTS chunk, a batch at a time (event_decoder.c). */
struct event_decoder {
	struct columns columns;
	uint64_t left;		/* events not yet decoded */
	bool steps;		/* major versions 1 and 2 */
	uint64_t stamp;
	uint64_t same_stamp;	/* number of next events with this stamp */
	uint64_t granule;	/* address >> 4; with `steps` */
	uint64_t *recent;	/* both lists of recent.h, one after the
				 * other */
	size_t recent_room;	/* entries of each list */
	uint32_t recent_mask;	/* of each list, as the chunk uses it */
	uint32_t reported[2];	/* addresses in each list so far */
	uint64_t granules[2];	/* the last in each list */
	uint32_t context;
	uint32_t layout;	/* of the current run, */
	uint64_t run;		/* and its events not yet decoded */
	uint32_t freed_by;	/* context of the last event that frees */
	unsigned freed_by_column;	/* 0: the chunk has none */
	uint64_t *args;		/* of the last batch's EXTRAs */
	size_t args_room;	/* in events */
	bool bad;
};
/* A struct event_decoder is reused until event_decoder_free; zero it first.
 * steps: see struct chunk. */
int event_decoder_open(struct event_decoder *decoder, struct cursor *payload,
		       bool steps, struct inflater *inflater);
/* Up to `max` events; 0 at the end or where `bad` is set. */
size_t event_decoder_next(struct event_decoder *decoder,
			  struct trace_event *events, size_t max);
/* Memory of the decoder that grows with the chunk. */
size_t event_decoder_bytes(const struct event_decoder *decoder);
void event_decoder_free(struct event_decoder *decoder);

/* Bytes of the event's record in its ring. */
static inline unsigned records_ring_bytes(const struct trace_event *event,
					  bool nested)
{
	struct gt_event_kind kind = gt_event_kind(event->kind);

	if (nested)
		return GL_RECORD_MAX;
	if (kind.has & GT_IS_BLOCK)
		return kind.bytes + 8 * (event->size >= GL_SIZE_BIG);
	return kind.bytes + 8 * (kind.has & GT_MAY_STACK && event->context);
}

#endif
