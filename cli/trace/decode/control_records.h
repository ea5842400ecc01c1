/*
 * control_records.h: decode CONTROL chunks (commands to the recorder: start,
 * stop, marker …) and LIVE chunks (blocks that were live when a part of a trace
 * begins). See trace_format.h.
 */
#ifndef GNOMON_CONTROL_RECORDS_H
#define GNOMON_CONTROL_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/trace/decode/columns.h"
#include "cli/trace/format/trace_format.h"

struct trace_control {
	unsigned what;		/* enum gt_control_what, or one unknown */
	uint64_t stamp;		/* ticks */
	uint64_t number;	/* HEAP: number of the heap; else 0 */
	const char *name;	/* points into the payload; not terminated */
	size_t name_size;
};

/* The next record. False: no more records, or c->bad is set. */
bool control_records_next(struct cursor *c, struct trace_control *control);

/* A block that was live when the part began. */
struct trace_live {
	uint64_t address;
	uint64_t size;
	uint64_t stamp;		/* of its allocation */
	uint32_t context;
	uint32_t ring;		/* of its thread, at that time */
};

enum { LIVE_ADDRESS, LIVE_CONTEXT, LIVE_SIZE, LIVE_STAMP, LIVE_RING,
       LIVE_COLUMNS };

/* A struct live_decoder is used once. Zero it first; free its columns after
 * use. */
struct live_decoder {
	struct columns columns;
	uint64_t left;		/* blocks not yet decoded */
	uint64_t granule;	/* of the previous block: address >> 4 */
	struct trace_live block;	/* the previous block */
};

/* False: malformed. */
bool live_decoder_open(struct live_decoder *decoder, struct cursor *c,
		       struct inflater *inflater);
/* False at the end, or where *bad is set. */
bool live_decoder_next(struct live_decoder *decoder, struct trace_live *block,
		       bool *bad);

#endif
