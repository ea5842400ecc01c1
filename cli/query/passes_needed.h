/*
 * passes_needed.h: how often a trace is read to answer a query, and what for.
 * It is decided here, from the query alone, and can be asked for.
 */
#ifndef GNOMON_QUERY_PASSES_NEEDED_H
#define GNOMON_QUERY_PASSES_NEEDED_H

#include "cli/base/text/buffer.h"
#include "cli/query/query.h"

/* In this order. What reads more than once needs a file, no pipe. */
enum query_pass {
	QUERY_PASS_OUTLINE,	/* clocks, snapshots, threads: what words mean */
	QUERY_PASS_ENDS,	/* which blocks are selected, by their ends */
	QUERY_PASS_FIGURES,	/* always */
	QUERY_PASS_PEAKS,	/* of each group by itself */
	QUERY_PASS_SERIES,	/* rows over time */
	QUERY_PASS_LOOKS,	/* what was live at snapshots */
	QUERY_PASSES
};

/* Whether this pass is needed. The query has no keys where rows are blocks, or
 * a tree. The first three are the model's (passes.c). */
bool query_needs_pass(const struct query *query, enum query_pass pass);
/* The passes with what each is for, a line each. */
void query_explain(const struct query *query, struct buffer *out);

#endif
