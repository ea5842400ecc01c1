/*
 * emit_rest.h: writes TOTALS of blocks that options exclude from recording (by
 * size, or while a thread is not active). The writer only.
 */
#ifndef GNOMON_EMIT_REST_H
#define GNOMON_EMIT_REST_H

#include "cli/recorder/base/recording.h"
#include "cli/recorder/emit/chunk.h"

struct emit_rest {
	/* in the trace already */
	uint64_t told[GT_CLASSES][GT_REST_VALUES];
	uint64_t now[GT_CLASSES][GT_REST_VALUES];
};

/* Sums over all threads so far (aside.h, THE REST). Threads count concurrently,
 * so a sum may include a block without its bytes. */
void emit_rest_sum(const struct recording *r,
		   uint64_t sums[GT_CLASSES][GT_REST_VALUES]);

/* Whether there is more than last time. */
bool emit_rest_due(struct emit_rest *rest, const struct recording *r);

/* Writes a chunk if there is more than last time. */
void emit_rest(struct emit_rest *rest, const struct recording *r,
	       struct chunk_out *out);

#endif
