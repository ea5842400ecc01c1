/*
 * omitted.h: totals of the blocks that were removed from the trace to make it
 * smaller (cull, strip). They still count in the program's measures.
 */
#ifndef GNOMON_OMITTED_H
#define GNOMON_OMITTED_H

#include <stddef.h>
#include <stdint.h>

#include "cli/trace/decode/file_records.h"

struct model;

/* For a pair of contexts: the one that allocated and the one that freed. There
 * may be many more pairs than other totals. */
struct omitted_freed {
	uint32_t context, by;
	uint64_t value[GT_FREED_VALUES];
};

struct omitted {
	struct trace_totals *chains;
	size_t chains_count, chains_capacity;
	struct omitted_freed *freed;
	size_t freed_count, freed_capacity;
	struct trace_totals *rows;
	size_t row_count, row_capacity;
	struct trace_classes classes;
	uint64_t blocks, bytes;	/* sum over all */
	uint64_t live_blocks, live_bytes;	/* part of these:
						 * omitted_settle */
	struct trace_skipped skipped;	/* never recorded, by option, */
	uint64_t skipped_blocks, skipped_bytes;	/* sum over all */
	uint64_t kept_peak_stamp;	/* of the blocks in the trace; 0: the
					 * same as the run's */
	struct trace_run run;	/* as it was before; zeros: not known */
};

void omitted_totals(struct omitted *omitted,
		    const struct trace_totals *totals);
void omitted_freed(struct omitted *omitted, const struct trace_totals *freed);
void omitted_chains(struct omitted *omitted,
		    const struct trace_totals *chains);
void omitted_classes(struct omitted *omitted,
		     const struct trace_classes *classes);
void omitted_skipped(struct omitted *omitted,
		     const struct trace_skipped *skipped);
void omitted_run(struct omitted *omitted, const struct trace_run *run);
/* Everything was read: merges rows of one context and thread. May be called
 * again. */
void omitted_settle(struct omitted *omitted);
/* Then add them to the measures of a model without a filter. Whether a filter
 * would select them cannot be decided. */
void omitted_apply(struct model *model);
/* Drop everything added so far. */
void omitted_forget(struct omitted *omitted);
void omitted_free(struct omitted *omitted);

#endif
