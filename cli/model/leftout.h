/*
 * leftout.h: totals of the blocks that were removed from the trace to make it
 * smaller (cull, strip). They still count in the program's measures.
 */
#ifndef GNOMON_LEFTOUT_H
#define GNOMON_LEFTOUT_H

#include <stddef.h>
#include <stdint.h>

#include "cli/trace/decode/file_records.h"

struct model;

/* For a pair of contexts: the one that allocated and the one that freed. There
 * may be many more pairs than other totals. */
struct leftout_freed {
	uint32_t context, by;
	uint64_t value[GT_FREED_VALUES];
};

struct leftout {
	struct trace_totals *chains;
	size_t chains_count, chains_capacity;
	struct leftout_freed *freed;
	size_t freed_count, freed_capacity;
	struct trace_totals *rows;
	size_t row_count, row_capacity;
	struct trace_classes classes;
	uint64_t blocks, bytes;	/* sum over all */
	uint64_t live_blocks, live_bytes;	/* part of these:
						 * leftout_settle */
	struct trace_rest rest;	/* never recorded, by option, */
	uint64_t rest_blocks, rest_bytes;	/* sum over all */
	uint64_t kept_peak_stamp;	/* of the blocks in the trace; 0: the
					 * same as the run's */
	struct trace_run run;	/* as it was before; zeros: not known */
};

void leftout_totals(struct leftout *leftout,
		    const struct trace_totals *totals);
void leftout_freed(struct leftout *leftout, const struct trace_totals *freed);
void leftout_chains(struct leftout *leftout,
		    const struct trace_totals *chains);
void leftout_classes(struct leftout *leftout,
		     const struct trace_classes *classes);
void leftout_rest(struct leftout *leftout, const struct trace_rest *rest);
void leftout_run(struct leftout *leftout, const struct trace_run *run);
/* Everything was read: merges rows of one context and thread. May be called
 * again. */
void leftout_settle(struct leftout *leftout);
/* Then add them to the measures of a model without a filter. Whether a filter
 * would select them cannot be decided. */
void leftout_apply(struct model *model);
/* Drop everything added so far. */
void leftout_forget(struct leftout *leftout);
void leftout_free(struct leftout *leftout);

#endif
