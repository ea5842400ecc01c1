/*
 * coverage.h: how much a result is about: which part of all allocations it
 * counts, which part nobody can judge, and what is missing in the trace.
 * docs/notes/figures.md defines each of these.
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

/* What a trace was made with that left blocks out of it. */
enum coverage_cause {
	COVERAGE_CULL,
	COVERAGE_STRIP,
	COVERAGE_DEPTH_0,
	COVERAGE_LIMIT,		/* it is a part of a recording */
	COVERAGE_CAUSES
};
extern const char *const coverage_causes[COVERAGE_CAUSES];

struct coverage {
	struct coverage_amount whole, selected, not_selected, undecidable;
	struct coverage_amount cut;	/* the undecidable ones whose stacks
					 * end too early */
	struct coverage_amount left_out;	/* there are only sums */
	struct coverage_amount unrecorded;	/* only counted, by choice */
	bool has_live;		/* live means at the end: no --alive-at */
	unsigned causes;	/* 1 << enum coverage_cause */
	uint64_t dropped;	/* events */
	uint64_t damaged;	/* places */
	uint64_t lost_bytes;	/* of events, where whole chunks are missing */
	uint64_t lost_ends;	/* blocks whose end was not seen */
	uint64_t unpaired;
	uint64_t foreign_frees;	/* of blocks from before, or not recorded */
	uint64_t ungrouped;	/* allocations: their group is not told */
	uint64_t sample_mean;	/* bytes; 0: no sample, figures are exact */
};

/* What filters say of a context. */
enum coverage_judged {
	COVERAGE_NOT_SELECTED,
	COVERAGE_SELECTED,
	COVERAGE_UNDECIDABLE
};

/* Of a model that has read a trace, and of what `judge` says of its contexts'
 * nodes (NULL: its filter has no words about stacks). */
void coverage_of(const struct model *model,
		 enum coverage_judged (*judge)(void *owner, uint32_t node),
		 void *owner, struct coverage *coverage);
/* Put `more`, of another trace, to `sum`; a zeroed one is that of none. */
void coverage_add(struct coverage *sum, const struct coverage *more);

#endif
