/*
 * shared.h: what hooks and the writer tell each other, in the live mapping at
 * gl_header.shared_offset. Words of fixed width, no pointer but addresses of
 * rings (`turn`), which only hooks use. Futexes on them are shared ones, as the
 * mapping is.
 *
 * All of it is 0 at first. Nothing of it is of use to who reads a left-over
 * live file.
 */
#ifndef GNOMON_SHARED_H
#define GNOMON_SHARED_H

#include <assert.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "preload/arenas.h"
#include "preload/format.h"
#include "preload/gate.h"
#include "unwind/capture.h"

#define GL_PAGE 4096		/* of memory that is reserved */
#define GL_LINE 64		/* of the processor's caches */
#define GL_SIGNALLED 16		/* kinds of requests (control.h), at most */

/* Two kinds of ring: of threads, and of hooks that interrupted a hook. */
enum recorder_pool { RECORDER_PRIMARY, RECORDER_NESTED, RECORDER_POOLS };

#define GL_REQUEST_ROOM 8192	/* bytes of a request's data */

/* What a thread asks the writer (ask.h). One at a time. */
struct gl_request {
	_Alignas(GL_LINE) _Atomic uint32_t state;	/* futex; see ask.c */
	uint32_t what;		/* enum ask_what */
	int64_t number;
	int64_t arg[6];
	int64_t result;		/* the answer, with `data` as it is then */
	uint32_t bytes;		/* of `data`, with the room for the answer */
	_Alignas(GL_LINE) unsigned char data[GL_REQUEST_ROOM];
};

/* What a thread of the target says of itself; the i-th belongs to the i-th
 * ring, and is written by that one's owner alone. */
struct gl_thread {
	/* at its first event; "": it was not allowed to ask */
	_Alignas(GL_LINE) char name[GT_THREAD_NAME_MAX];
	_Atomic uint32_t nested;	/* its second ring: id + 1; 0: none */
	uint32_t plain;			/* without a state for captures */
	struct capture_report captures;	/* all 0 until there is a state */
};

#define GL_THREADS 16	/* of them in one piece */

struct gl_shared {
	/* ---- written by the writer ---- */
	_Alignas(GL_LINE) _Atomic uint32_t asleep;	/* waits on `wake` */
	_Atomic uint64_t beats;		/* its progress */
	_Atomic uint32_t nodes_refused;	/* nobody waits for more of them */
	_Atomic uint32_t image_limit;	/* images with reserved records; futex */
	_Atomic uint32_t images_refused;
	/* futex: 1 when nothing is left to be said about an allocator that
	 * is not seen (foreign.h) */
	_Atomic uint32_t foreign_done;
	_Atomic uint32_t snapshots;	/* number of the last one; futex */
	_Atomic uint64_t live_blocks;	/* about */

	/* ---- written by hooks ---- */
	_Alignas(GL_LINE) _Atomic uint32_t wake;	/* futex */
	_Atomic uint32_t hurry;		/* the program is about to end */
	_Atomic uint32_t maps_hints;	/* something was mapped unseen */
	_Atomic uint32_t stop;		/* recording cannot go on: finish;
					 * also by the writer itself */
	_Atomic uint32_t execs;		/* calls of exec that have not failed */
	_Atomic uint32_t exits;		/* its status, or 0 (exit_status.c) */
	_Atomic uint32_t partial;	/* by choice, since it began */
	_Atomic uint32_t mutes;		/* times that a thread fell mute */
	_Atomic uint32_t ledger_wants;	/* enum ledger_why */
	/* by what they ask for (control.h), how many signals came that are
	 * served when the writer looks */
	_Atomic uint32_t signalled[GL_SIGNALLED];

	_Alignas(GL_LINE) _Atomic uint64_t skipped;	/* early events */
	_Atomic uint64_t ring_waits;
	_Atomic uint64_t nested_events;
	_Atomic uint64_t nested_lost;
	_Atomic uint64_t guard_damages;	/* that were told of (guard.h) */

	/* ---- both ---- */

	/* free lists: tag << 32 | id + 1; the tag counts changes, so that a
	 * list that was popped and pushed in between is noticed */
	_Alignas(GL_LINE) _Atomic uint64_t ring_free[RECORDER_POOLS];
	_Atomic uint32_t ring_count[RECORDER_POOLS];	/* in the lists */
	_Atomic uint32_t ring_refills[RECORDER_POOLS];	/* futex */
	_Atomic uint32_t ring_hungry[RECORDER_POOLS];	/* a thread waits */
	_Atomic uint32_t ring_alarm[RECORDER_POOLS];	/* fewer: wake */
	_Atomic uint32_t ring_taken[RECORDER_POOLS];	/* since a refill */
	_Atomic uint32_t ring_exhausted[RECORDER_POOLS];
	_Atomic uint32_t ring_short;	/* there were fewer */

	/* whose events need no stamp of their own, see ring.h; 0: nobody's */
	_Alignas(GL_LINE) _Atomic uint64_t turn;

	/* whether anything is recorded at the time (gate.h, aside.h) */
	_Alignas(GL_LINE) _Atomic uint64_t gate;
	_Alignas(GL_LINE) struct gate_slots posted;

	/* between a thread and the writer, a snapshot at a time */
	_Alignas(GL_LINE) struct arenas arenas[ARENAS_WHICH];

	struct gl_request request;

	/* where the structs gl_thread of so many rings are, in bytes from the
	 * header of the live mapping; 0: no ring has one yet */
	_Alignas(GL_LINE) uint64_t threads[GL_RINGS_MAX / GL_THREADS];

	/* links of the free lists: id + 1. Reserved as ids are given out. */
	_Alignas(GL_PAGE) _Atomic uint32_t ring_next[GL_RINGS_MAX];
};

/* Whether nothing is recorded at the time; whether that is for good. Any
 * thread. */
static inline bool gate_is_shut(const struct gl_shared *shared)
{
	return atomic_load_explicit(&shared->gate, memory_order_relaxed) &
	       GATE_SHUT;
}

static inline bool gate_is_off(const struct gl_shared *shared)
{
	return atomic_load_explicit(&shared->gate, memory_order_relaxed) &
	       GATE_OFF;
}

/* Of a ring that there is. */
static inline struct gl_thread *gl_thread_of(struct gl_header *live,
					     const struct gl_shared *shared,
					     uint32_t ring)
{
	return (struct gl_thread *)((char *)live +
				    shared->threads[ring / GL_THREADS]) +
	       ring % GL_THREADS;
}

static_assert(offsetof(struct gl_shared, ring_next) % GL_PAGE == 0,
	      "what is reserved from the start ends with a page");

#endif
