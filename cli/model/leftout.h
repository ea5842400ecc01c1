/*
 * leftout.h: the totals of blocks that are not in the trace any more, because
 * somebody left them out to make it smaller: they belong to a program's
 * figures all the same.
 */
#ifndef GNOMON_LEFTOUT_H
#define GNOMON_LEFTOUT_H

#include <stddef.h>
#include <stdint.h>

#include "cli/trace/decode/file_records.h"

struct model;

/* Of two contexts: that allocated, and that freed. There may be many more of
 * these than of others. */
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
	uint64_t blocks, bytes;	/* in all */
	uint64_t live_blocks, live_bytes;	/* of them: leftout_settle */
	struct trace_rest rest;	/* never recorded, by choice, */
	uint64_t rest_blocks, rest_bytes;	/* in all */
	uint64_t kept_peak_stamp;	/* of the blocks that are here; 0: that
					 * is the run's */
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
/* All was read: rows of one context and thread are one. Again: the same. */
void leftout_settle(struct leftout *leftout);
/* Then put them to the figures of a model without a filter. What a
 * filter would say of them nobody knows. */
void leftout_apply(struct model *model);
/* What was told so far does not count. */
void leftout_forget(struct leftout *leftout);
void leftout_free(struct leftout *leftout);

#endif
