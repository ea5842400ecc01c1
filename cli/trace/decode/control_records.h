/*
 * control_records.h: CONTROL and LIVE chunks: what somebody told the recorder
 * to do, and which blocks were live when a part of a trace begins
 * (trace_format.h).
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
	uint64_t number;	/* HEAP: of the heap; else 0 */
	const char *name;	/* of the payload; not terminated */
	size_t name_size;
};

/* The next record. False: the end, or c->bad. */
bool control_records_next(struct cursor *c, struct trace_control *control);

/* A block that lives when a part begins. */
struct trace_live {
	uint64_t address;
	uint64_t size;
	uint64_t stamp;		/* of its allocation */
	uint32_t context;
	uint32_t ring;		/* its thread has this ring then */
};

enum { LIVE_ADDRESS, LIVE_CONTEXT, LIVE_SIZE, LIVE_STAMP, LIVE_RING,
       LIVE_COLUMNS };

/* A struct live_decoder is used once; zero it first, and free its columns. */
struct live_decoder {
	struct columns columns;
	uint64_t left;		/* blocks not yet decoded */
	uint64_t granule;	/* of the block before: address >> 4 */
	struct trace_live block;	/* the one before */
};

/* False: malformed. */
bool live_decoder_open(struct live_decoder *decoder, struct cursor *c,
		       struct inflater *inflater);
/* False at the end, or where *bad is set. */
bool live_decoder_next(struct live_decoder *decoder, struct trace_live *block,
		       bool *bad);

#endif
