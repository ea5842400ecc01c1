/*
 * ring_drain.h: drains the rings and writes their records as chunks of the
 * trace. The recorder only.
 */
#ifndef GNOMON_RING_DRAIN_H
#define GNOMON_RING_DRAIN_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/recorder/base/recording.h"
#include "cli/recorder/emit/chunk.h"
#include "cli/recorder/emit/compress.h"
#include "cli/recorder/emit/emit_heap.h"
#include "cli/recorder/emit/emit_image.h"
#include "cli/recorder/emit/emit_node.h"
#include "cli/recorder/emit/emit_skipped.h"
#include "cli/recorder/emit/encode.h"
#include "cli/recorder/live/nested_ring.h"
#include "cli/recorder/live/ring_pool.h"
#include "unwind/base/assertion.h"

/* The recorder's state of one ring, in addition to the ring's header. */
struct drain_source {
	uint32_t generation;	/* of the ring, as announced in the trace */
	bool known;
	bool busy;		/* at the scan */
	uint64_t head;		/* at the scan; or as far as merged */
	uint64_t seen;		/* at the scan */
	uint64_t taken;		/* by the event merge */
	uint64_t looked;	/* `taken` at the last turn_poll */
	uint64_t since_ns;	/* pending events were first seen then */
	uint64_t last_tick;	/* of its last event read */
	struct nested_ring nested;	/* of a second ring */
	uint32_t serial;	/* of its thread, in order of start, */
	uint32_t number;	/* and its START record in this file */
	uint64_t named_ns;	/* when its thread's name was last read */
	char name[GT_THREAD_NAME_MAX];
};

/* How much to write. */
enum drain_depth {
	DRAIN_ENOUGH,	/* rings that hold much, or old events */
	DRAIN_ALL,	/* all complete records */
	DRAIN_LAST	/* the target has ended: also incomplete records */
};

struct event_merge;
struct recorder;

struct ring_drain {
	struct recording *r;
	struct recorder *recorder;	/* owner; NULL: no requests */
	struct event_merge *merge;	/* NULL: rings are not merged */
	struct ring_pool *pool;
	struct chunk_out *out;
	struct compress *compress;
	struct encode *encode;
	struct emit_node *nodes;
	struct emit_image *images;
	struct emit_heap *heaps;
	unsigned tick_shift;
	struct drain_source *rings;
	struct emit_skipped *rest;
	uint64_t watermark;	/* ticks */
	uint64_t scanned;	/* tick: records from before it were seen */
	uint64_t sync_ns;	/* when the last one was written */
	uint64_t looked_ns;	/* last turn_poll */
	uint64_t reaped_ns;	/* last thread_list_poll */
	int32_t tid_max;	/* of all threads so far */
	uint64_t since_sync;	/* ring bytes */
	bool pending;		/* a ring still holds records */
	bool rested;		/* the recorder slept before this pass */
	bool pressed;		/* a thread waits for a large ring */
	enum compress_effort effort;
	unsigned calm;		/* passes in which no thread waited */
	bool reported_partial;	/* the trace says that blocks are left out */
	uint64_t events, blocks, nested_blocks;
	uint64_t plain_blocks;	/* of threads without capture state */
	uint64_t unfinished;	/* records never completed by their hook */
	uint32_t serials;	/* threads so far */
	uint32_t numbers;	/* STARTs in this file, of threads */
	/* at the start of the file: events and threads so far, and how many of
	 * these threads were announced again */
	uint64_t events_before;
	uint32_t serials_before, numbers_before;
	uint32_t finished;	/* rings */
	/* of threads that have ended */
	uint64_t barriers_placed, barriers_met;
};

/* r->live is attached. Memory from zeroed_alloc. 0 or -ENOMEM. */
int drain_init(struct ring_drain *drain, struct recording *r);

/* One pass over all rings; returns how many bytes of rings were written. */
uint64_t drain_pass(struct ring_drain *drain, enum drain_depth depth);

/* Whether a SYNC is due. drain_sync makes a full pass and writes the SYNC. */
bool drain_sync_due(const struct ring_drain *drain, uint64_t now_ns);
void drain_sync(struct ring_drain *drain, enum drain_depth depth);

/* Writes a SYNC that only relates ticks to the clocks: for now, or for a given
 * tick. */
void drain_clocks(struct ring_drain *drain);
void drain_moment(struct ring_drain *drain, uint64_t tick, uint64_t ns,
		  uint64_t realtime_ns);

/* Writes all records of a ring whose thread ended at this stamp, then frees the
 * ring. */
void drain_finish(struct ring_drain *drain, uint32_t id, uint64_t end_stamp);

/* The first ring of the thread that owns this second ring; `id` itself for a
 * first ring. */
uint32_t drain_owner(const struct ring_drain *drain, uint32_t id);

/* Position up to which a ring may be read. Hooks complete records of a nested
 * ring in any order, or never (nested_ring.h); the latter are counted. */
uint64_t drain_end(struct ring_drain *drain, uint32_t id, uint64_t from,
		   uint64_t to, enum drain_depth depth);

/* Writes one chunk of events of a ring from memory, laid out as in a ring that
 * is not nested. They are those of positions [first, last). */
void drain_records(struct ring_drain *drain, uint32_t id,
		   const order_word *from, const order_word *to, uint64_t first,
		   uint64_t last);

/* Takes all records so far, and writes those that need not wait (cull.h).
 * Returns the tick up to which no record is missing. */
uint64_t drain_all(struct ring_drain *drain);

/* Reads the heads of all rings, and handles requests that signal handlers made
 * before. */
void drain_poll(struct ring_drain *drain);

/* The same as drain_all, for records older than this tick. With an event merge
 * only. */
void drain_until(struct ring_drain *drain, uint64_t tick);

/* The number of a thread's START in this file; 0: it has none. ring: the
 * thread's present or former ring. */
uint32_t drain_thread_number(const struct ring_drain *drain, uint32_t ring,
			     uint32_t serial);

static inline uint32_t drain_count(const struct ring_drain *drain)
{
	return drain->r->ring_count;
}

static inline bool drain_active(const struct gl_ring *ring)
{
	/* pairs with the release of start_register and ring_nested */
	return order_read_acquire(ring, state) == GL_RING_ACTIVE;
}

/* Live blocks, estimated from the events written so far. */
static inline uint64_t drain_live_blocks(const struct ring_drain *drain)
{
	uint64_t ends = drain->events - drain->blocks;

	DEBUG_ASSERT(drain->blocks <= drain->events);
	return drain->blocks > ends ? drain->blocks - ends : 0;
}

#endif
