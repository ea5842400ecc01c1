/*
 * emit_skipped.h: writes TOTALS of blocks that options exclude from recording
 * (by size, or while a thread is not active). The recorder only.
 */
#ifndef GNOMON_EMIT_SKIPPED_H
#define GNOMON_EMIT_SKIPPED_H

#include "cli/recorder/base/recording.h"
#include "cli/recorder/emit/chunk.h"

struct emit_skipped {
	/* in the trace already */
	uint64_t reported[GT_CLASSES][GT_REST_VALUES];
	uint64_t now[GT_CLASSES][GT_REST_VALUES];
};

/* Sums over all threads so far (skip.h). Threads count concurrently,
 * so a sum may include a block without its bytes. */
void emit_skipped_sum(const struct recording *r,
		      uint64_t sums[GT_CLASSES][GT_REST_VALUES]);

/* Whether there is more than last time. */
bool emit_skipped_due(struct emit_skipped *skipped, const struct recording *r);

/* Writes a chunk if there is more than last time. */
void emit_skipped(struct emit_skipped *skipped, const struct recording *r,
		  struct chunk_out *out);

#endif
