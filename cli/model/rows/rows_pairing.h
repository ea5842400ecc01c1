/*
 * rows_pairing.h: from the events of a trace to rows of a store: every block
 * of the whole recording, whatever a filter or a view leaves out. It goes along
 * with a model (companion.h), which has all of the trace but its events: so
 * nodes and threads have the numbers that any model of the same trace gives
 * them.
 *
 *	events ─▶ edges (core/edges.h) ─▶ birth   kept until the block ends
 *	                                └▶ end     a row
 *
 * What is special:
 *	parts	blocks that were live when a part began are born before its
 *		first event, at their own stamps; no row of them is temporary
 *	START	blocks of before are LOST at its stamp, as nobody knows what
 *		became of them; frees of unknown blocks are foreign from then on
 *	moved	a realloc's old block ends as MOVED, also where it stays in its
 *		place; old and new one have a chain, and follow each other in it
 *	cull	blocks that were left out have no rows; chains count them, and
 *		`between` as well
 *	samples	a row is one block of the sample; `between` is above
 *		WEIGH_BETWEEN for each other one, so that none is temporary
 *
 * One thread: the reader's.
 */
#ifndef GNOMON_ROWS_PAIRING_H
#define GNOMON_ROWS_PAIRING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/model/companion.h"
#include "cli/model/core/chains.h"
#include "cli/model/core/controls.h"
#include "cli/model/core/edges.h"
#include "cli/model/part.h"
#include "cli/store/store_write.h"

/* What is kept of a block until it ends, by its number. */
struct rows_birth {
	uint64_t edge;
	uint32_t node;
	uint32_t chain;		/* in `chains`; 0: none so far */
};

/* From one control (controls.h) to the next: so figures of a view are sums. */
struct rows_stretch {
	uint64_t unpaired, repaired, foreign;
};

/* What is live of the blocks of all heaps but the program's own, and the most
 * bytes so far: at which edge, and its stamp. Weighed (weigh.h). */
struct rows_most {
	uint64_t live_bytes, live_blocks;
	uint64_t bytes, blocks, edge, stamp;
};

struct rows_pairing {
	struct model *model;
	const struct controls *controls;
	size_t next_control;	/* that was not applied yet */
	uint64_t alarm;		/* stamp of that one; 0: events do not count */
	bool begun, off, sampled;
	bool head;		/* INFO came since the last event */
	struct edges edges;
	struct rows_birth *births;
	size_t birth_capacity;
	uint64_t *allocations;	/* of threads, so far */
	size_t thread_capacity;
	struct chains chains;
	uint32_t *chain_numbers;	/* by place in `chains` */
	size_t chain_capacity;
	uint32_t chain_count;	/* numbers that were given */
	uint64_t leaving;	/* as the model has it */
	uint64_t edge_count;
	struct rows_most most;
	struct maps *maps;	/* the model's, which follow along; or NULL */
	uint64_t sample_mean;	/* for it */
	uint64_t ended;		/* rows that were told */
	uint64_t last_stamp;
	uint64_t events;
	uint64_t *thread_events;	/* as long as `allocations` */
	size_t event_capacity;
	uint64_t undefined;	/* births and ends in contexts that no record
				 * defines */
	uint32_t lane;		/* of the event that is being taken */
	struct part part;
	struct rows_stretch *stretches;
	size_t stretch_capacity;
	/* A state was taken (rows_state.h): edges until then, and of blocks
	 * from before that have ended since, their sequences. */
	uint64_t taken_edges;
	uint64_t *sequences;
	size_t sequence_count, sequence_capacity;
	/* Who hears of each block that ended, in that order. */
	void (*tell)(void *owner, const struct store_row *row);
	void *owner;
	/* As that of a sink, with the same owner; or NULL. */
	enum reader_chunk (*chunk)(void *owner, const struct chunk *chunk);
};

/* The model is new, and stays the caller's. */
void rows_pairing_init(struct rows_pairing *pairing, struct model *model,
		       void (*tell)(void *owner, const struct store_row *row),
		       void *owner);
void rows_pairing_free(struct rows_pairing *pairing);
/* For model_sink_along. */
void rows_pairing_companion(struct rows_pairing *pairing,
			    struct model_companion *companion);
/* The model's mappings follow the events, too: from the first one on. */
void rows_pairing_follow_maps(struct rows_pairing *pairing);
/* No more events come. */
void rows_pairing_finish(struct rows_pairing *pairing);
/* The blocks that are live then, in the order of their births. */
void rows_pairing_live(const struct rows_pairing *pairing,
		       void (*tell)(void *owner, const struct store_row *row),
		       void *owner);

/* ---- for the files of this folder ---- */

/* As the model pairs: what a line of INFO says holds from the next event on. */
void rows_pairing_head(struct rows_pairing *pairing);
/* What somebody told the recorder to do up to this stamp is applied. Whether an
 * event of this kind counts. */
bool rows_pairing_alarm(struct rows_pairing *pairing,
			const struct trace_event *event);
/* A chain begins: it gets a number. `index`: in `chains`. */
void rows_pairing_number(struct rows_pairing *pairing, uint32_t index);
void rows_pairing_chain_lost(struct rows_pairing *pairing, uint32_t chain);
/* Make room for a block's number, a thread. */
struct rows_birth *rows_pairing_birth(struct rows_pairing *pairing,
				      uint32_t number);
void rows_pairing_reach(struct rows_pairing *pairing, uint32_t lane);

/* Chains of which not all blocks are there: rows_gap.c. How many of the events
 * are taken: the first is an EXTRA about a chain; or it may be one that such
 * an EXTRA has waited for. */
size_t rows_gap_take(struct rows_pairing *pairing,
		     const struct trace_event *events, size_t count);
size_t rows_gap_noted(struct rows_pairing *pairing,
		      const struct trace_event *events);

#endif
