/*
 * tracker.h: the live heap: the block table and the features that use it
 * (totals, cull, parts, stats). Opened at the first request and then kept. The
 * recorder only.
 */
#ifndef GNOMON_TRACKER_H
#define GNOMON_TRACKER_H

#include "cli/recorder/live_blocks/cull.h"
#include "cli/recorder/live_blocks/block_table.h"
#include "preload/ring/blocks_request.h"
#include "cli/recorder/live_blocks/rotation.h"
#include "cli/recorder/event_merge.h"
#include "cli/recorder/live_blocks/stats.h"
#include "cli/recorder/emit/totals.h"

struct recorder;

struct tracker {
	bool open;
	bool failed;		/* no memory; reported already */
	uint32_t own;		/* enum blocks_user: what the options need */
	uint32_t wants;		/* plus what the program last requested */
	struct block_table table;
	struct event_merge merge;
	struct cull cull;
	struct totals totals;
	struct rotation rotation;
	struct stats stats;
};

/* Before the first event: opens what the options need. 0 or -errno, with the
 * recorder's message set. */
int tracker_begin(struct recorder *rec);

/* In each round of the recorder: opens the live heap if it is needed now, and
 * does work that is due. */
void tracker_poll(struct recorder *rec, uint64_t now_ns);

/* All events have been written. */
void tracker_finish(struct recorder *rec);

/*
 * Brings the live heap up to date with all records so far, and opens it if
 * needed. nested: the requesting thread is in a hook, so do not wait for it. 0
 * or -ENOMEM.
 */
int tracker_settle(struct recorder *rec, bool nested);

/* Handles the target's request REQUEST_BLOCKS. */
long tracker_reply(struct recorder *rec, struct gl_request *request);

/* Events before this tick no longer count; the trace gets a record of that.
 * unseen: and not all events before it were recorded. */
void tracker_begin_anew(struct recorder *rec, uint64_t tick, bool unseen);

#endif
