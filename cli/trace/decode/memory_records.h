/*
 * memory_records.h: decoded USAGE and SNAPSHOT chunks: resident memory over
 * time, and mappings at a moment.
 */
#ifndef GNOMON_MEMORY_RECORDS_H
#define GNOMON_MEMORY_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/trace/decode/columns.h"
#include "cli/trace/format/trace_format.h"

/* In each of these structs, values that a trace lacks are 0. */
struct trace_usage {
	uint64_t stamp;
	uint64_t value[GT_USAGE_VALUES];	/* enum gt_usage_value */
};

struct trace_mapping {
	uint64_t snapshot;	/* its number */
	uint64_t start, size;	/* bytes */
	uint32_t flags;		/* enum gt_mapping_flags */
	uint64_t value[GT_MAPPING_VALUES];	/* enum gt_mapping_value */
	const char *path;	/* not terminated */
	size_t path_size;
};

struct trace_snapshot {
	uint64_t number;
	uint32_t kind;		/* enum gt_snapshot_kind */
	uint32_t flags;		/* enum gt_snapshot_flags */
	uint64_t begin, end;	/* stamps */
	uint64_t mappings;
	const char *name;	/* not terminated */
	size_t name_size;
	uint32_t arenas;	/* enum gt_arenas_state */
	uint64_t arenas_stamp;	/* these two only if GT_ARENAS_TAKEN */
	uint64_t arenas_value[GT_ARENAS_VALUES];
};

/* Points of a USAGE chunk, one after the other. */
struct usage_decoder {
	uint64_t values;	/* of a point, as the trace has it */
	struct trace_usage before;
};
void usage_decoder_open(struct usage_decoder *decoder, struct cursor *c);
/* False at the end; then c->bad says whether the payload ended inside a
 * record. */
bool usage_decoder_next(struct usage_decoder *decoder, struct cursor *c,
			struct trace_usage *usage);

/* A SNAPSHOT chunk: some mappings, or (count 0) the snapshot itself. */
struct snapshot_decoder {
	struct columns columns;
	uint64_t number, values;
	uint64_t left;		/* mappings not yet decoded */
	uint64_t page;		/* end of the previous mapping */
	const char *path;
	size_t path_size;
};

/* The kind of the chunk, 0 if it is malformed. Free the columns with
 * columns_free. */
enum gt_snapshot_what snapshot_decoder_open(struct snapshot_decoder *decoder,
					    struct cursor *c,
					    struct inflater *inflater);
/* For GT_SNAPSHOT_MAPPINGS. False at the end, or where *bad is set. */
bool snapshot_decoder_next(struct snapshot_decoder *decoder,
			   struct trace_mapping *mapping, bool *bad);
/* For GT_SNAPSHOT_TAKEN. False: malformed. */
bool snapshot_decoder_taken(struct cursor *c, struct trace_snapshot *snapshot);

#endif
