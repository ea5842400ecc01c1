/*
 * sequence.h: the events of all rings in the order of their stamps, for who
 * keeps books (ledger.h). Between rings and encoding; only while something
 * wants it. The writer only.
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
	uint64_t ahead[2];	/* of records whose memory is fetched */
	uint32_t steps;		/* records between `at` and the first */
	uint64_t tick;		/* of the record at `at` */
	uint32_t owner;		/* the first ring of its thread */
};

struct sequence {
	struct ledger *ledger;
	struct cull *cull;	/* NULL: nothing is left out */
	const struct control *control;	/* which events count; NULL: all */
	bool no_events;		/* totals alone are wanted */
	/* of what is before this tick, do not wait for who is in a hook */
	uint64_t at_once;
	struct grown rings, heap;
	uint32_t heaped;	/* rings in the heap */
	struct parts *parts;	/* NULL: the trace is one file */
	uint32_t left;		/* events that may be taken in this step */
	uint64_t marked;	/* everything before this tick was taken */
	uint64_t forced;	/* times that events were not waited for */
};

/* 0 or -ENOMEM. */
int sequence_init(struct sequence *sequence, struct ledger *ledger);

/*
 * Rings were scanned, and nothing with a stamp below `mark` is still to come.
 * Takes what is before that; if a thread is in need of room, what was there
 * before the scan, and what is before `at_once` in any case.
 * own->head of each ring then covers what was taken, and nothing else. True:
 * there is more, but parts want to be looked after first.
 */
bool sequence_take(struct feed *feed, uint64_t mark, enum feed_depth depth);

/* A ring has another thread. */
void sequence_thread(struct feed *feed, uint32_t id);

/* Positions of the ring begin anew. */
void sequence_ring_ends(struct feed *feed, uint32_t id);

/* What was taken up to this mark: up to where it is written, too. */
uint64_t sequence_mark(struct feed *feed, uint64_t mark,
		       enum feed_depth depth);

/* Takes all of a ring whose thread has ended. */
void sequence_take_rest(struct feed *feed, uint32_t id);

/* No ring comes before its parent in the heap. With GNOMON_CLAIMS. */
bool sequence_heap_is_valid(const struct sequence *sequence);

#endif
