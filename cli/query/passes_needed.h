/*
 * passes_needed.h: how often a trace is read to answer a query, and why.
 * Decided here from the query alone, for reading and for --explain.
 */
#ifndef GNOMON_QUERY_PASSES_NEEDED_H
#define GNOMON_QUERY_PASSES_NEEDED_H

#include "cli/base/text/buffer.h"
#include "cli/query/query.h"

/* In this order. More than one pass needs a file, not a pipe. */
enum query_pass {
	QUERY_PASS_OUTLINE,	/* clocks, snapshots, threads: for filters */
	QUERY_PASS_ENDS,	/* selected blocks, by their ends */
	QUERY_PASS_FIGURES,	/* always */
	QUERY_PASS_PEAKS,	/* own peaks of groups */
	QUERY_PASS_SERIES,	/* rows over time */
	QUERY_PASS_LOOKS,	/* live blocks at snapshots */
	QUERY_PASSES
};

/* Whether this pass is needed. The query has no keys if rows are blocks or a
 * tree. The model makes the first three passes (passes.c). */
bool query_needs_pass(const struct query *query, enum query_pass pass);
/* The passes and their purposes, a line each. */
void query_explain(const struct query *query, struct buffer *out);

#endif
