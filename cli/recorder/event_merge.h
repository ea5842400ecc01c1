/*
 * event_merge.h: merges the events of all rings in the order of their stamps,
 * for the block table (block_table.h). It sits between rings and encoding, and
 * runs only while a feature needs it. The recorder only.
 */
#ifndef GNOMON_EVENT_MERGE_H
#define GNOMON_EVENT_MERGE_H

#include "cli/recorder/ring_drain.h"
#include "cli/recorder/live_blocks/block_table.h"
#include "cli/recorder/base/vector.h"

struct control;
struct cull;
struct rotation;

/* A ring that is being merged with others. */
struct event_merge_ring {
	uint64_t at, to;	/* positions */
	uint64_t ahead[2];	/* of records to prefetch */
	uint32_t steps;		/* records between `at` and ahead[0] */
	uint64_t tick;		/* of the record at `at` */
	uint32_t owner;		/* the first ring of its thread */
};

struct event_merge {
	struct block_table *table;
	struct cull *cull;	/* NULL: no block is left out */
	const struct control *control;	/* which events count; NULL: all */
	bool no_events;		/* write totals only */
	/* for events before this tick, do not wait for threads in a hook */
	uint64_t at_once;
	struct vector rings, heap;
	uint32_t heaped;	/* rings in the heap */
	struct rotation *rotation;	/* NULL: the trace is one file */
	uint32_t left;		/* events that may be taken in this step */
	uint64_t marked;	/* all events before this tick were taken */
	uint64_t forced;	/* how often events were not waited for */
};

/* 0 or -ENOMEM. */
int event_merge_init(struct event_merge *merge, struct block_table *table);

/*
 * Call after rings were scanned, when no record with a stamp below `mark` can
 * still come. Takes the records before `mark`. If a thread waits for room, also
 * takes all records from before the scan. Always takes records before
 * `at_once`. Afterwards own->head of each ring covers exactly the records
 * taken. True: there are more, but call rotation_poll first.
 */
bool event_merge_take(struct ring_drain *drain, uint64_t mark,
		      enum drain_depth depth);

/* The ring now belongs to another thread. */
void event_merge_thread(struct ring_drain *drain, uint32_t id);

/* Positions of the ring start again from 0. */
void event_merge_ring_ends(struct ring_drain *drain, uint32_t id);

/* Given the mark up to which events were taken: returns the tick up to which
 * they are also written. */
uint64_t event_merge_mark(struct ring_drain *drain, uint64_t mark,
			  enum drain_depth depth);

/* Takes all remaining records of a ring whose thread has ended. */
void event_merge_take_rest(struct ring_drain *drain, uint32_t id);

/* No ring is ordered before its parent in the heap. With
 * GNOMON_DEBUG_ASSERTS. */
bool event_merge_heap_is_valid(const struct event_merge *merge);

#endif
