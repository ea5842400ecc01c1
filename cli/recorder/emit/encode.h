/*
 * encode.h: encodes records of a ring as the columns of an EVENTS chunk
 * (trace_format.h). The recorder only.
 */
#ifndef GNOMON_ENCODE_H
#define GNOMON_ENCODE_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/recorder/emit/compress.h"
#include "cli/recorder/emit/emit_node.h"
#include "cli/trace/format/recent.h"

/* Events of one chunk: columns of this length stay in the cache, and longer
 * ones compress no better. */
#define ENCODE_EVENTS 32768
/* of them, GT_EXTRA */
#define ENCODE_EXTRAS 512

enum encode_column {
	ENCODE_KIND,		/* and the address, if it is a recent one */
	ENCODE_ADDRESS,
	ENCODE_CONTEXT,
	ENCODE_SIZE,
	ENCODE_LAYOUT,
	ENCODE_EXTRA,
	ENCODE_RUN,		/* length of a run of events with one stamp, */
	ENCODE_TICKS,		/* and ticks from there to the next stamp */
	ENCODE_FREED_BY,	/* absent if no free has a stack */
	ENCODE_COLUMNS
};

struct encode {
	struct emit_node *nodes;	/* receives every context */
	unsigned tick_shift;
	bool stacks;		/* frees may have stacks */
	uint8_t *column[ENCODE_COLUMNS];
	struct compress_past past[ENCODE_COLUMNS];
	struct recent_finder *recent;
	/* of the current batch */
	uint8_t *end[ENCODE_COLUMNS];
	uint64_t base;		/* ticks */
	uint64_t last;		/* stamp of its last event, ticks */
	uint64_t events;
	uint64_t blocks;	/* of them, ALLOC and REALLOC_DONE */
	uint64_t extras;	/* of them, GT_EXTRA */
	uint64_t stacked;	/* of them, frees with their stacks */
	bool bad;		/* an invalid record was found: do not write */
	uint32_t freed_by;	/* of the last one */
};

/* Records [from, to) of a ring. */
struct encode_span {
	const uint8_t *data;
	uint64_t mask;
	uint64_t from, to;
	bool nested;		/* all records are eight words */
};

/* Memory from zeroed_alloc. 0 or -ENOMEM. `stacks`: records may have
 * GL_KIND_STACK. */
int encode_init(struct encode *encode, struct emit_node *nodes,
		unsigned tick_shift, bool stacks);

/*
 * Encodes as many records as one chunk takes; returns the position reached. In
 * a nested ring, records whose word 0 is 0 are skipped and counted in
 * *unfinished.
 */
uint64_t encode_events(struct encode *encode, const struct encode_span *span,
		       uint64_t *unfinished);

/* How many records of a nested ring encode_events would skip. */
uint64_t encode_unfinished(const struct encode_span *span);

/* First position in [from, to) of a record of a nested ring that is not
 * finished, or `to`. */
uint64_t encode_nested_end(const struct encode_span *span);

/* Writes the payload of the batch, at most ENCODE_PAYLOAD_MAX bytes. Returns
 * one past its end. */
uint8_t *encode_payload(struct encode *encode, uint8_t *to,
			struct compress *compress);

/* Longest entries: kind and age, address and its low byte, context (also of a
 * free), size, a run of one layout, kind and arguments of an extra, run,
 * ticks. */
#define ENCODE_KIND_MAX 3
#define ENCODE_ADDRESS_MAX 11
#define ENCODE_CONTEXT_MAX 5
#define ENCODE_SIZE_MAX 10
#define ENCODE_LAYOUT_MAX 4
#define ENCODE_EXTRA_MAX (1 + GT_EXTRA_ARGS * 10)
#define ENCODE_RUN_MAX 3
#define ENCODE_TICKS_MAX 10
#define ENCODE_PAYLOAD_MAX                                              \
	(ENCODE_EVENTS * (ENCODE_KIND_MAX + ENCODE_ADDRESS_MAX +        \
			  ENCODE_CONTEXT_MAX + ENCODE_SIZE_MAX +        \
			  ENCODE_LAYOUT_MAX + ENCODE_RUN_MAX +          \
			  ENCODE_TICKS_MAX + ENCODE_CONTEXT_MAX) +      \
	 ENCODE_EXTRAS * ENCODE_EXTRA_MAX + 256)

/* Each column of the batch lies in its room. With GNOMON_DEBUG_ASSERTS. */
bool encode_is_valid(const struct encode *encode);

#endif
