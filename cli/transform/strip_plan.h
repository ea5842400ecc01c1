/*
 * strip_plan.h: which events of a trace go, found out by reading it once: those
 * of blocks that lived shortly and were not there at the peak.
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
	uint64_t lifetime_ns;	/* blocks that lived shorter go; */
	bool by_temporary;
	uint64_t temporary;	/* and those with at most so many allocations
				 * of their thread between */
};

/* An EVENTS chunk while its events are to come. */
struct strip_chunk {
	struct strip_place next;
	uint32_t lane;		/* the model's */
};

/* What is known of a live block besides its struct block. */
struct strip_known {
	struct strip_place place;	/* of its allocation */
	uint64_t order;		/* number of that allocation, over all */
};

/* By lane: its last event, and the beginning of its realloc. */
struct strip_lane {
	struct strip_place last;
	bool seen;		/* there is a last event */
	struct strip_place begin;
	struct strip_gap gap;	/* that is about the next event */
};

/* The event that is being taken. */
struct strip_now {
	const struct trace_event *event;
	struct strip_place place;
	uint32_t lane;
};

/* A block that is to go, with the events that ended it. */
struct strip_doomed {
	struct strip_block block;
	struct strip_place begin, end[2];
	unsigned ends;
	struct strip_link link;
};

/* What went of what was before a START or CLEAR. */
struct strip_segment {
	struct strip_totals *totals;	/* NULL: nothing */
};

struct strip_plan {
	struct model *model;
	const struct controls *controls;	/* the model's */
	struct strip_options options;
	struct strip_marks marks;
	struct strip_totals totals;	/* since the last START or CLEAR */
	struct strip_segment *segments;	/* before each of them */
	size_t segment_count, segment_capacity;
	size_t segments_full;	/* that have totals */
	size_t segments_written;
	size_t next_control;	/* of these */
	uint64_t begin_order;	/* allocations before the last of them */
	bool off;		/* events do not count now */
	bool begun;		/* there was an event */
	bool sampled;		/* known by then, */
	bool has_freed_by;	/* as that frees have their stacks */
	struct strip_chunk *chunks;	/* all so far */
	size_t chunk_count, chunk_capacity;
	struct chunk current;	/* that the lane is asked for */
	struct strip_chains chains;
	uint64_t leaving;	/* number of the chain that goes on behind the
				 * event at hand; 0: none */
	struct edges edges;	/* a block's cost is its context */
	struct strip_now now;
	struct strip_known *known;	/* by number of the block */
	size_t known_capacity;
	struct strip_lane *lanes;	/* by the model's number */
	size_t lane_capacity;
	uint64_t *allocations;	/* so far, by the model's number of a thread */
	size_t thread_capacity;
	struct strip_doomed *undecided;	/* short-lived, but live at the peak */
	size_t undecided_count, undecided_capacity;
	uint64_t order;		/* allocations so far, */
	uint64_t peak_order;	/* and at the peak so far */
	uint64_t live, peak;	/* bytes */
	uint32_t *thread_numbers;	/* of their STARTs, by the model's */
	bool *needed;		/* by the model's nodes */
	size_t needed_capacity;
};

/*
 * Read the trace. `directory` is for temporary files. Returns what reader_run
 * does; EXIT_NOTHING: it cannot be read, or not be stripped, and that was said.
 */
int strip_plan_read(struct strip_plan *plan,
		    const struct strip_options *options, const char *trace,
		    const char *directory);
/* What the marks cannot say: TOTALS chunks, before a START or CLEAR, which come
 * in their order, and at the end. */
void strip_plan_write_before(struct strip_plan *plan, struct rewrite *out);
void strip_plan_write(struct strip_plan *plan, struct rewrite *out);
/* What goes, in all. */
struct strip_sum {
	uint64_t blocks, bytes;
	uint64_t all;		/* blocks that there were */
};
struct strip_sum strip_plan_sum(const struct strip_plan *plan);
/* Whether anything refers to a context: to the node with this id. */
bool strip_plan_needs(struct strip_plan *plan, uint32_t id);
void strip_plan_free(struct strip_plan *plan);

#endif
