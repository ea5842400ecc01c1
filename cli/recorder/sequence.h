/*
 * sequence.h: merges the events of all rings in the order of their stamps, for
 * the block table (ledger.h). It sits between rings and encoding, and runs only
 * while a feature needs it. The writer only.
 */
#ifndef GNOMON_SEQUENCE_H
#define GNOMON_SEQUENCE_H

#include "cli/recorder/feed.h"
#include "cli/recorder/books/ledger.h"
#include "cli/recorder/base/grown.h"

struct control;
struct cull;
struct parts;

/* A ring that is being merged with others. */
struct sequence_ring {
	uint64_t at, to;	/* positions */
	uint64_t ahead[2];	/* of records to prefetch */
	uint32_t steps;		/* records between `at` and ahead[0] */
	uint64_t tick;		/* of the record at `at` */
	uint32_t owner;		/* the first ring of its thread */
};

struct sequence {
	struct ledger *ledger;
	struct cull *cull;	/* NULL: no block is left out */
	const struct control *control;	/* which events count; NULL: all */
	bool no_events;		/* write totals only */
	/* for events before this tick, do not wait for threads in a hook */
	uint64_t at_once;
	struct grown rings, heap;
	uint32_t heaped;	/* rings in the heap */
	struct parts *parts;	/* NULL: the trace is one file */
	uint32_t left;		/* events that may be taken in this step */
	uint64_t marked;	/* all events before this tick were taken */
	uint64_t forced;	/* how often events were not waited for */
};

/* 0 or -ENOMEM. */
int sequence_init(struct sequence *sequence, struct ledger *ledger);

/*
 * Call after rings were scanned, when no record with a stamp below `mark` can
 * still come. Takes the records before `mark`. If a thread waits for room, also
 * takes all records from before the scan. Always takes records before
 * `at_once`. Afterwards own->head of each ring covers exactly the records
 * taken. True: there are more, but call parts_look first.
 */
bool sequence_take(struct feed *feed, uint64_t mark, enum feed_depth depth);

/* The ring now belongs to another thread. */
void sequence_thread(struct feed *feed, uint32_t id);

/* Positions of the ring start again from 0. */
void sequence_ring_ends(struct feed *feed, uint32_t id);

/* Given the mark up to which events were taken: returns the tick up to which
 * they are also written. */
uint64_t sequence_mark(struct feed *feed, uint64_t mark,
		       enum feed_depth depth);

/* Takes all remaining records of a ring whose thread has ended. */
void sequence_take_rest(struct feed *feed, uint32_t id);

/* No ring is ordered before its parent in the heap. With GNOMON_CLAIMS. */
bool sequence_heap_is_valid(const struct sequence *sequence);

#endif
