/*
 * compose.h: encodes trace chunks, for live file recovery, for repack and
 * strip, and for tests. The recorder has an encoder of its own.
 */
#ifndef GNOMON_COMPOSE_H
#define GNOMON_COMPOSE_H

#include <stdint.h>

#include "cli/base/text/buffer.h"
#include "cli/trace/decode/control_records.h"
#include "cli/trace/decode/file_records.h"
#include "cli/trace/decode/records.h"

/* The header of a trace. */
void compose_header(struct buffer *out, uint64_t trace_id);

/*
 * A chunk around a payload. `chunk` gives type, ring, generation, first, last
 * and sequence; also `raw` and `flags`, unless the payload is compressed as a
 * whole.
 */
void compose_chunk(struct buffer *out, const struct chunk *chunk,
		  uint64_t trace_id, const struct buffer *payload);

/* Payloads. `level` is zstd's; 0: do not compress columns. */
void compose_varint(struct buffer *out, uint64_t value);
/* One column. Write the number of entries first. */
void compose_column(struct buffer *out, const struct buffer *column, int level);
void compose_line(struct buffer *out, const char *key, const char *value);
void compose_thread(struct buffer *out, const struct trace_thread *thread);
void compose_capture(struct buffer *out, const struct trace_capture *capture);
void compose_image(struct buffer *out, const struct trace_image *image);
void compose_sync(struct buffer *out, const struct trace_sync *sync);
/* A piece of a file: `piece_size` bytes at `bytes`. */
void compose_file(struct buffer *out, const struct trace_file *file,
		  const uint8_t *bytes, int level);
void compose_run(struct buffer *out, const struct trace_run *run);
void compose_classes(struct buffer *out, const struct trace_classes *classes);
void compose_totals(struct buffer *out, const struct trace_totals *totals,
		    size_t count, int level);
/* The same for FREED. */
void compose_freed(struct buffer *out, const struct trace_totals *freed,
		   size_t count, int level);
/* The same for CHAINS. */
void compose_chains(struct buffer *out, const struct trace_totals *chains,
		    size_t count, int level);
void compose_skipped(struct buffer *out, const struct trace_skipped *rest);
void compose_control(struct buffer *out, const struct trace_control *control);
void compose_live(struct buffer *out, const struct trace_live *blocks,
		  size_t count, int level);
/* Parents come before their children. */
void compose_nodes(struct buffer *out, const struct trace_node *nodes,
		  size_t count, int level);
/* At most GT_EVENTS_MAX events, by ascending stamps. */
void compose_events(struct buffer *out, const struct trace_event *events,
		   size_t count, int level);

#endif
