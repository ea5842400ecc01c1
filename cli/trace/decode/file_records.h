/*
 * file_records.h: decode FILE chunks (files embedded in a trace) and TOTALS,
 * FREED and CHAINS chunks (sums over blocks that were left out). See
 * trace_format.h.
 */
#ifndef GNOMON_FILE_RECORDS_H
#define GNOMON_FILE_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/trace/decode/columns.h"
#include "cli/trace/format/trace_format.h"

/* A piece of an embedded file. Pointers point into the payload. */
struct trace_file {
	uint32_t number;	/* of the file in this trace */
	unsigned kind;		/* enum gt_file_kind */
	uint64_t size;		/* of the whole file */
	uint64_t offset;	/* of this piece in it */
	uint64_t piece_size;
	const uint8_t *build_id;
	size_t build_id_size;
	const char *path;	/* not terminated */
	size_t path_size;
};

/* Values of the run as a whole, by enum gt_run_value. */
struct trace_run {
	uint64_t value[GT_RUN_VALUES];
};

/* Sums over blocks of one context and thread. */
struct trace_totals {
	uint32_t context;
	/* The number of its START record in the file, from 1; 0: all threads,
	 * or unknown. A row of FREED has here the context that freed, a row of
	 * CHAINS 0. */
	uint32_t thread;
	uint64_t value[GT_TOTALS_VALUES];
};

/* Blocks deliberately not recorded (by size, or of inactive threads; not those
 * that a sample leaves out), by size class. */
struct trace_skipped {
	uint64_t size[GT_CLASSES][GT_REST_VALUES];
};

/* Sums over all blocks, by size in bytes and by lifetime in ns. */
struct trace_classes {
	uint64_t size[GT_CLASSES][GT_SIZE_VALUES];
	uint64_t lifetime[GT_CLASSES][GT_LIFETIME_VALUES];
};

/* The description; the cursor is then at the bytes. False: malformed. */
bool file_records_file(struct cursor *c, struct trace_file *file);
/* The piece's bytes, exactly `piece_size`; they are in `columns` or in the
 * payload. False: malformed. */
bool file_records_bytes(struct cursor *c, const struct trace_file *file,
			struct columns *columns, struct inflater *inflater,
			const uint8_t **bytes);

struct totals_decoder {
	struct columns columns;
	uint64_t values;	/* of each row, as the trace has it */
	uint64_t left;		/* rows not yet decoded */
	uint32_t context;
};

/* The kind of the chunk, 0 if it is malformed. Free the columns with
 * columns_free. */
enum gt_totals_what totals_decoder_open(struct totals_decoder *decoder,
					struct cursor *c,
					struct inflater *inflater);
/* The same for a FREED or CHAINS chunk, whose values are enum gt_freed_value
 * and enum gt_chains_value. False: malformed. */
bool totals_decoder_open_rows(struct totals_decoder *decoder,
			      struct cursor *c, struct inflater *inflater);
/* For GT_TOTALS_RUN. False: malformed. */
bool totals_decoder_run(struct cursor *c, struct trace_run *run);
/* For GT_TOTALS_CLASSES. False: malformed. */
bool totals_decoder_classes(struct cursor *c, struct trace_classes *classes);
/* For GT_TOTALS_REST. False: malformed. */
bool totals_decoder_skipped(struct cursor *c, struct trace_skipped *skipped);
/* For GT_TOTALS_CONTEXTS, FREED and CHAINS. False at the end, or where *bad is
 * set. */
bool totals_decoder_next(struct totals_decoder *decoder,
			 struct trace_totals *totals, bool *bad);

/* The class of a size or a lifetime. */
static inline unsigned totals_class(uint64_t value)
{
	return value == 0 ? 0 : 64 - (unsigned)__builtin_clzll(value);
}

#endif
