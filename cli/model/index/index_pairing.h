/*
 * index_pairing.h: makes rows of the index from the events of a trace: a row
 * for every block of the recording, independent of filters and views. It is the
 * companion (model_observer.h) of a model that reads everything except events,
 * so nodes and threads have the same numbers as in any model of the trace.
 *
 *	events ─▶ edges (core/edges.h) ─▶ alloc   kept until the block ends
 *	                                └▶ end     a row
 *
 * Special cases:
 *	parts	blocks that were live when a part began are allocated before
 *		its first event, at their own stamps; their rows are never
 *		temporary
 *	START	earlier blocks end as LOST at its stamp, since their fate is not
 *		known; from then on frees of unknown blocks are foreign
 *	moved	the old block of a realloc ends as MOVED, even if it is not
 *		moved in memory; old and new block are consecutive in a chain
 *	cull	blocks that were left out have no rows; chains and `between`
 *		count them
 *	samples	a row is one block of the sample; `between` is above
 *		WEIGHT_BETWEEN per other sampled block, so that none is temporary
 *
 * One thread: the reader's.
 */
#ifndef GNOMON_INDEX_PAIRING_H
#define GNOMON_INDEX_PAIRING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/model/model_observer.h"
#include "cli/model/core/chains.h"
#include "cli/model/core/controls.h"
#include "cli/model/core/edges.h"
#include "cli/model/initial_live.h"
#include "cli/store/store_write.h"

/* Data of a block until it ends, by its number. */
struct index_alloc {
	uint64_t edge;
	uint32_t node;
	uint32_t chain;		/* index in `chains`; 0: none so far */
};

/* Counts between two controls (controls.h), so that the measures of a view are
 * sums. */
struct index_stretch {
	uint64_t unpaired, repaired, foreign;
};

/* Live blocks of all heaps except the program's own, and the largest live bytes
 * so far, with its edge and stamp. Weighted (weight.h). */
struct index_peak {
	uint64_t live_bytes, live_blocks;
	uint64_t bytes, blocks, edge, stamp;
};

struct index_pairing {
	struct model *model;
	const struct controls *controls;
	size_t next_control;	/* the first that was not applied yet */
	uint64_t alarm;		/* its stamp; 0: events do not count */
	bool begun, off, sampled;
	bool head;		/* there was INFO since the last event */
	struct edges edges;
	struct index_alloc *allocs;
	size_t alloc_capacity;
	uint64_t *allocations;	/* per thread, so far */
	size_t thread_capacity;
	struct chains chains;
	uint32_t *chain_numbers;	/* by index in `chains` */
	size_t chain_capacity;
	uint32_t chain_count;	/* numbers given so far */
	uint64_t leaving;	/* as in the model */
	uint64_t edge_count;
	struct index_peak peak;
	struct maps *maps;	/* the model's, following the events; or NULL */
	uint64_t sample_mean;	/* for `peak` */
	uint64_t ended;		/* rows passed to `tell` */
	uint64_t last_stamp;
	uint64_t events;
	uint64_t *thread_events;	/* as many as `allocations` */
	size_t event_capacity;
	uint64_t undefined;	/* allocations and frees in contexts without a
				 * record */
	uint32_t lane;		/* of the current event */
	struct initial_live part;
	struct index_stretch *stretches;
	size_t stretch_capacity;
	/* A state was taken (index_state.h): the number of edges at that point,
	 * and the sequences of earlier blocks that have ended since. */
	uint64_t taken_edges;
	uint64_t *sequences;
	size_t sequence_count, sequence_capacity;
	/* Called for each block that ended, in that order. */
	void (*report)(void *owner, const struct store_row *row);
	void *owner;
	/* As in a sink, with the same owner; or NULL. */
	enum reader_chunk (*chunk)(void *owner, const struct chunk *chunk);
};

/* The model is new, and stays the caller's. */
void index_pairing_init(struct index_pairing *pairing, struct model *model,
			void (*report)(void *owner,
				       const struct store_row *row),
			void *owner);
void index_pairing_free(struct index_pairing *pairing);
/* For model_sink_along. */
void index_pairing_observer(struct index_pairing *pairing,
			    struct model_observer *companion);
/* From the first event on, the model's mappings follow the events, too. */
void index_pairing_follow_maps(struct index_pairing *pairing);
/* There are no more events. */
void index_pairing_finish(struct index_pairing *pairing);
/* Calls `tell` for the live blocks, in the order of their allocations. */
void index_pairing_live(const struct index_pairing *pairing,
			void (*report)(void *owner,
				       const struct store_row *row),
			void *owner);

/* ---- for the files of this folder ---- */

/* Pair as the model does; a line of INFO applies from the next event on. */
void index_pairing_head(struct index_pairing *pairing);
/* Applies commands to the recorder up to the event's stamp. Returns whether the
 * event counts. */
bool index_pairing_alarm(struct index_pairing *pairing,
			 const struct trace_event *event);
/* Gives a new chain its number. `index`: in `chains`. */
void index_pairing_number(struct index_pairing *pairing, uint32_t index);
void index_pairing_chain_lost(struct index_pairing *pairing, uint32_t chain);
/* Make room for a block's number, for a lane's thread. */
struct index_alloc *index_pairing_alloc(struct index_pairing *pairing,
					uint32_t number);
void index_pairing_reach(struct index_pairing *pairing, uint32_t lane);

/* Chains with missing blocks: index_gap.c. Both return how many events they
 * have taken. In index_gap_take the first is an EXTRA about a chain; in
 * index_gap_noted it may be an event that such an EXTRA has waited for. */
size_t index_gap_take(struct index_pairing *pairing,
		      const struct trace_event *events, size_t count);
size_t index_gap_noted(struct index_pairing *pairing,
		       const struct trace_event *events);

#endif
