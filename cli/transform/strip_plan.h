/*
 * strip_plan.h: decides which events strip drops, in a first pass over the
 * trace: those of blocks with short lifetimes that were not live at the peak.
 */
#ifndef GNOMON_STRIP_PLAN_H
#define GNOMON_STRIP_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/model/core/edges.h"
#include "cli/transform/strip_chains.h"
#include "cli/transform/strip_marks.h"
#include "cli/transform/strip_totals.h"

struct strip_options {
	bool by_lifetime;
	uint64_t lifetime_ns;	/* drop blocks with shorter lifetimes, */
	bool by_temporary;
	uint64_t temporary;	/* and those with at most so many allocations of
				 * their thread between */
};

/* An EVENTS chunk with events still to come. */
struct strip_chunk {
	struct strip_place next;
	uint32_t lane;		/* the model's */
};

/* Properties of a live block that struct block lacks. */
struct strip_known {
	struct strip_place place;	/* of its allocation */
	uint64_t order;		/* number of its allocation, over all threads */
};

/* By lane: its last event, and the begin of its realloc. */
struct strip_lane {
	struct strip_place last;
	bool seen;		/* there is a last event */
	struct strip_place begin;
	struct strip_gap gap;	/* about the next event */
};

/* The event that is being processed. */
struct strip_now {
	const struct trace_event *event;
	struct strip_place place;
	uint32_t lane;
};

/* A block to be dropped, with the events that ended it. */
struct strip_doomed {
	struct strip_block block;
	struct strip_place begin, end[2];
	unsigned ends;
	struct strip_link link;
};

/* Sums over blocks dropped before a START or CLEAR. */
struct strip_segment {
	struct strip_totals *totals;	/* NULL: nothing */
};

struct strip_plan {
	struct model *model;
	const struct controls *controls;	/* the model's */
	struct strip_options options;
	struct strip_marks marks;
	struct strip_totals totals;	/* since the last START or CLEAR */
	struct strip_segment *segments;	/* one before each START and CLEAR */
	size_t segment_count, segment_capacity;
	size_t segments_full;	/* number of segments with totals */
	size_t segments_written;
	size_t next_control;	/* index of the next in `controls` */
	uint64_t begin_order;	/* allocations before the last START or CLEAR */
	bool off;		/* recording is stopped */
	bool begun;		/* an event was seen */
	bool sampled;		/* set at the first event, */
	bool has_freed_by;	/* likewise: frees have their stacks */
	struct strip_chunk *chunks;	/* all so far */
	size_t chunk_count, chunk_capacity;
	struct chunk current;	/* for which the lane is requested */
	struct strip_chains chains;
	uint64_t leaving;	/* number of the chain that continues after the
				 * current event; 0: none */
	struct edges edges;	/* a block's cost is its context */
	struct strip_now now;
	struct strip_known *known;	/* by number of the block */
	size_t known_capacity;
	struct strip_lane *lanes;	/* by the model's number */
	size_t lane_capacity;
	uint64_t *allocations;	/* so far, by the model's number of a thread */
	size_t thread_capacity;
	struct strip_doomed *undecided;	/* short lifetime, but live at the
					 * peak */
	size_t undecided_count, undecided_capacity;
	uint64_t order;		/* allocations so far, */
	uint64_t peak_order;	/* and at the peak so far */
	uint64_t live, peak;	/* bytes */
	uint32_t *thread_numbers;	/* of their STARTs, by the model's */
	bool *needed;		/* by the model's nodes */
	size_t needed_capacity;
};

/*
 * Read the trace. `directory` is for temporary files. Returns as reader_run;
 * EXIT_NOTHING, with a message: it cannot be read, or not be stripped.
 */
int strip_plan_read(struct strip_plan *plan,
		    const struct strip_options *options, const char *trace,
		    const char *directory);
/* Write the sums of dropped blocks as TOTALS chunks: before each START or
 * CLEAR, in their order; and at the end. */
void strip_plan_write_before(struct strip_plan *plan, struct rewrite *out);
void strip_plan_write(struct strip_plan *plan, struct rewrite *out);
/* What is dropped, in total. */
struct strip_sum {
	uint64_t blocks, bytes;
	uint64_t all;		/* blocks of the trace */
};
struct strip_sum strip_plan_sum(const struct strip_plan *plan);
/* Whether any kept event needs the context with this id. */
bool strip_plan_needs(struct strip_plan *plan, uint32_t id);
void strip_plan_free(struct strip_plan *plan);

#endif
