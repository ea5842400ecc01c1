/*
 * control.h: start, stop, clear, snapshot and other requests to a running
 * recording. They come from the control socket, from signals, from the program
 * itself or from a timer.
 */
#ifndef GNOMON_CONTROL_H
#define GNOMON_CONTROL_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/trace/format/trace_format.h"
#include "preload/base/control_request.h"

struct recorder;

/* Used by the recorder only. */
struct control {
	uint64_t begun;		/* recordings so far */
	bool off;		/* recording is stopped: events do not count */
	bool serving;		/* a request is being handled: others wait */
	bool sync;		/* write recorded events soon */
	/* Events count from `begin_tick` until before `end_tick`. end_tick 0:
	 * no end yet. */
	uint64_t begin_tick, end_tick;
	uint64_t clear_tick;	/* of a clear since then; 0: none */
	/* Requests from before this tick have been handled, except those not
	 * yet visible at that time. */
	uint64_t settled;
	uint64_t start_ns;	/* --delay: when to start; 0: not by timer */
	uint64_t stop_ns;	/* --duration: when to stop; likewise */
	uint32_t served[CONTROL_KINDS];	/* requests handled, of the recorder's
					 * `signalled` */
	uint64_t *names;	/* hashes of snapshot names, or NULL */
	uint32_t name_count;
};

/* At the start of the trace: stops recording if options request a later
 * start. */
void control_begin(struct recorder *rec);

/*
 * Call after all rings were scanned and before records are taken. Handles
 * requests that signal handlers made before the scan (gate.h), as of the time
 * of each request.
 */
void control_scanned(struct recorder *rec);

/* In each round: handles requests by signals and timers. */
void control_step(struct recorder *rec, uint64_t now_ns);

/* How long the recorder may sleep until the next timer. */
uint64_t control_wait_ns(const struct recorder *rec);

/*
 * Handles a request. The recorder only. -EALREADY: the recording is in that
 * state already; -EAGAIN: call again in the next round. A snapshot is only
 * begun here: `number` and `name` are set to those of the snapshot, and
 * control_taken says when it is complete.
 */
void control_do(struct recorder *rec, struct control_request *request);
bool control_taken(const struct recorder *rec, uint64_t number);

/* Writes a CONTROL record. */
void control_emit(struct recorder *rec, enum gt_control_what what,
		  uint64_t tick, uint64_t number, const char *name);

/* Whether an event of this tick counts: see struct control. */
static inline bool control_counts(const struct control *control,
				  uint64_t tick)
{
	return tick >= control->begin_tick &&
	       (!control->end_tick || tick < control->end_tick);
}

#endif
