/*
 * feed.h: from rings to chunks. The writer only.
 */
#ifndef GNOMON_FEED_H
#define GNOMON_FEED_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/recorder/base/recording.h"
#include "cli/recorder/emit/chunk.h"
#include "cli/recorder/emit/compress.h"
#include "cli/recorder/emit/emit_heap.h"
#include "cli/recorder/emit/emit_image.h"
#include "cli/recorder/emit/emit_node.h"
#include "cli/recorder/emit/emit_rest.h"
#include "cli/recorder/emit/encode.h"
#include "cli/recorder/live/nested.h"
#include "cli/recorder/live/pool.h"
#include "unwind/claim.h"

/* What the writer knows of one ring beside its header. */
struct feed_ring {
	uint32_t generation;	/* announced in the trace */
	bool known;
	bool busy;		/* at the scan */
	uint64_t head;		/* at the scan; with a sequence, what it took */
	uint64_t seen;		/* at the scan */
	uint64_t taken;		/* by the sequence */
	uint64_t looked;	/* the same, at turn_look */
	uint64_t since_ns;	/* pending events were first seen */
	uint64_t last_tick;	/* of its last event that was looked at */
	struct nested nested;	/* of a second ring */
	uint32_t serial;	/* of its thread: the how manieth it is, */
	uint32_t number;	/* and which START of this file */
	uint64_t named_ns;	/* its thread's name was last read */
	char name[GT_THREAD_NAME_MAX];
};

/* How much to write. */
enum feed_depth {
	FEED_ENOUGH,	/* rings that hold much, or for long */
	FEED_ALL,	/* everything that is there */
	FEED_LAST	/* the target is gone: also what was not finished */
};

struct sequence;
struct writer;

struct feed {
	struct recording *r;
	struct writer *writer;	/* whose it is; NULL: nobody asks anything */
	struct sequence *sequence;	/* NULL: rings go out as they are */
	struct pool *pool;
	struct chunk_out *out;
	struct compress *compress;
	struct encode *encode;
	struct emit_node *nodes;
	struct emit_image *images;
	struct emit_heap *heaps;
	unsigned tick_shift;
	struct feed_ring *rings;
	struct emit_rest *rest;
	uint64_t watermark;	/* ticks */
	uint64_t scanned;	/* tick: what was pushed before it was seen */
	uint64_t sync_ns;	/* when the last one was written */
	uint64_t looked_ns;	/* turn_look */
	uint64_t reaped_ns;	/* census_look */
	int32_t tid_most;	/* of all threads so far */
	uint64_t since_sync;	/* ring bytes */
	bool pending;		/* something was left in a ring */
	bool rested;		/* the writer slept before this pass */
	bool pressed;		/* a thread waits for a large ring */
	enum compress_effort effort;
	unsigned calm;		/* passes without that */
	bool told_partial;	/* that blocks are left out, in the trace */
	uint64_t events, blocks, nested_blocks;
	uint64_t plain_blocks;	/* of threads without a capture's state */
	uint64_t unfinished;	/* records that their hook never completed */
	uint32_t serials;	/* threads so far */
	uint32_t numbers;	/* STARTs in this file, of threads */
	/* at its beginning: events and threads so far, and how many of these
	 * were told again */
	uint64_t events_before;
	uint32_t serials_before, numbers_before;
	uint32_t finished;	/* rings */
	/* of threads that have ended */
	uint64_t barriers_placed, barriers_met;
};

/* r->live is there. Memory from zeroed_alloc. 0 or -ENOMEM. */
int feed_init(struct feed *feed, struct recording *r);

/* One pass over all rings; returns how many bytes of rings were written. */
uint64_t feed_pass(struct feed *feed, enum feed_depth depth);

/* Whether it is time for a SYNC; then feed_sync does a whole pass and writes
 * it. */
bool feed_sync_due(const struct feed *feed, uint64_t now_ns);
void feed_sync(struct feed *feed, enum feed_depth depth);

/* A SYNC that only tells the time: now; or when a tick is, was or will be. */
void feed_clocks(struct feed *feed);
void feed_moment(struct feed *feed, uint64_t tick, uint64_t ns,
		 uint64_t realtime_ns);

/* Everything of a ring whose thread ended by then; after that it is free. */
void feed_finish(struct feed *feed, uint32_t id, uint64_t end_stamp);

/* The first ring of who owns a second one; `id` itself where there is none. */
uint32_t feed_owner(const struct feed *feed, uint32_t id);

/* How far a ring may be read: of a nested one, records are finished in any
 * order, or never (nested.h); what never will be is noted. */
uint64_t feed_end(struct feed *feed, uint32_t id, uint64_t from,
		  uint64_t to, enum feed_depth depth);

/* Writes events of a ring that stand in memory as they would in a ring that
 * is not nested; one chunk takes them. For positions [first, last). */
void feed_records(struct feed *feed, uint32_t id, const order_word *from,
		  const order_word *to, uint64_t first, uint64_t last);

/* All that was recorded so far is looked at, and written if it is not to wait
 * (cull.h). Returns the tick up to which that is everything. */
uint64_t feed_all(struct feed *feed);

/* Heads are read, and what handlers had asked for before is served. */
void feed_look(struct feed *feed);

/* The same as feed_all, of what is older than this tick. With a sequence only. */
void feed_until(struct feed *feed, uint64_t tick);

/* The number of a thread's START in this file, 0: it has none. ring: that it
 * has, or had. */
uint32_t feed_thread_number(const struct feed *feed, uint32_t ring,
			    uint32_t serial);

static inline uint32_t feed_count(const struct feed *feed)
{
	return feed->r->ring_count;
}

static inline bool feed_active(const struct gl_ring *ring)
{
	/* pairs with the release of start_register and ring_nested */
	return order_read_acquire(ring, state) == GL_RING_ACTIVE;
}

/* Blocks in use, by the events written so far; about. */
static inline uint64_t feed_live_blocks(const struct feed *feed)
{
	uint64_t ends = feed->events - feed->blocks;

	CLAIM_FULL(feed->blocks <= feed->events);
	return feed->blocks > ends ? feed->blocks - ends : 0;
}

#endif
