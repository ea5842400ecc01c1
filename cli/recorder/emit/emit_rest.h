/*
 * emit_rest.h: TOTALS of blocks that were never recorded, by choice (their
 * size, a thread that was not active). The writer only.
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

/* Over all threads so far (aside.h, THE REST). While threads count, a sum may
 * have a block and not its bytes. */
void emit_rest_sum(const struct recording *r,
		   uint64_t sums[GT_CLASSES][GT_REST_VALUES]);

/* Whether there is more than last time. */
bool emit_rest_due(struct emit_rest *rest, const struct recording *r);

/* Writes a chunk if there is more than last time. */
void emit_rest(struct emit_rest *rest, const struct recording *r,
	       struct chunk_out *out);

#endif
