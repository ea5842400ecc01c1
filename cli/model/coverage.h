/*
 * coverage.h: how complete a result is: which part of all allocations it
 * counts, for which part filters cannot decide, and what is missing in the
 * trace. docs/notes/figures.md defines each of these.
 *
 *  I1  whole = selected + not_selected + undecidable.
 *  I2  left_out and unrecorded are parts of the whole.
 */
#ifndef GNOMON_COVERAGE_H
#define GNOMON_COVERAGE_H

#include <stdbool.h>
#include <stdint.h>

struct model;

struct coverage_amount {
	uint64_t allocations, bytes;
	uint64_t live_blocks, live_bytes;	/* 0 where not has_live */
};

/* Why blocks were left out of a trace. */
enum coverage_cause {
	COVERAGE_CULL,
	COVERAGE_STRIP,
	COVERAGE_DEPTH_0,
	COVERAGE_LIMIT,		/* a part of a recording (trace rotation) */
	COVERAGE_CAUSES
};
extern const char *const coverage_causes[COVERAGE_CAUSES];

struct coverage {
	struct coverage_amount whole, selected, not_selected, undecidable;
	struct coverage_amount cut;	/* the undecidable ones with truncated
					 * stacks */
	struct coverage_amount left_out;	/* known only as sums */
	struct coverage_amount unrecorded;	/* only counted, by option */
	bool has_live;		/* live is at the end: no --alive-at */
	unsigned causes;	/* 1 << enum coverage_cause */
	uint64_t dropped;	/* events */
	uint64_t damaged;	/* places in the trace */
	uint64_t lost_bytes;	/* of events, in chunks that are missing */
	uint64_t lost_ends;	/* blocks whose end is not in the trace */
	uint64_t unpaired;
	uint64_t foreign_frees;	/* of blocks from before the recording, or not
				 * recorded */
	uint64_t ungrouped;	/* allocations of unknown group */
	uint64_t sample_mean;	/* bytes; 0: no sample, measures are exact */
};

/* A filter's decision about a context. */
enum coverage_decision {
	COVERAGE_NOT_SELECTED,
	COVERAGE_SELECTED,
	COVERAGE_UNDECIDABLE
};

/* The coverage of a model that has read a trace. `decide` decides about the
 * nodes of its contexts (NULL: the filter has no conditions on stacks). */
void coverage_of(const struct model *model,
		 enum coverage_decision (*decide)(void *owner, uint32_t node),
		 void *owner, struct coverage *coverage);
/* Add `more`, of another trace, to `sum`; a zeroed struct is the empty sum. */
void coverage_add(struct coverage *sum, const struct coverage *more);

#endif
