/*
 * emit_totals.h: writes TOTALS, FREED and CHAINS chunks (trace_format.h). The
 * recorder only.
 */
#ifndef GNOMON_EMIT_TOTALS_H
#define GNOMON_EMIT_TOTALS_H

#include "cli/recorder/emit/chunk.h"
#include "cli/recorder/emit/compress.h"
#include "cli/recorder/emit/emit_node.h"

struct emit_totals {
	struct chunk_out *out;
	struct compress *compress;
	struct emit_node *nodes;
	struct compress_past past;
	uint8_t *column;	/* the rows */
	uint8_t *to;		/* end of the rows so far */
	uint32_t count;
	uint32_t context;	/* of the last row */
	enum gt_chunk_type type;	/* GT_TOTALS, GT_FREED, GT_CHAINS */
	unsigned values;	/* of a row */
};

/* 0 or -ENOMEM. */
int emit_totals_init(struct emit_totals *emit, struct chunk_out *out,
		     struct compress *compress, struct emit_node *nodes);

/* Rows of contexts (GT_TOTALS, GT_CHAINS) or of pairs (GT_FREED) follow. */
void emit_totals_begin(struct emit_totals *emit, enum gt_chunk_type type);

/* other: thread, or context that freed, or 0. */
void emit_totals_row(struct emit_totals *emit, uint32_t context,
		     uint32_t other, const uint64_t *value);
void emit_totals_end(struct emit_totals *emit);

void emit_totals_classes(struct chunk_out *out,
			 uint64_t size[GT_CLASSES][GT_SIZE_VALUES],
			 uint64_t lifetime[GT_CLASSES][GT_LIFETIME_VALUES]);

void emit_totals_run(struct chunk_out *out,
		     const uint64_t value[GT_RUN_VALUES]);

#endif
