/*
 * control.h: what may be asked of a recording while it runs: by a command
 * through the control socket, by signals, by the program itself, by time.
 */
#ifndef GNOMON_CONTROL_H
#define GNOMON_CONTROL_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/trace/format/trace_format.h"
#include "preload/base/control_request.h"

struct writer;

/* The writer's own. */
struct control {
	uint64_t begun;		/* recordings so far */
	bool off;		/* what happens now does not count */
	bool serving;		/* a request: others wait */
	bool sync;		/* what was recorded is to be written soon */
	/* What is before `begin_tick` does not count (any more), nor what is
	 * from `end_tick` on; 0: there is no end yet. */
	uint64_t begin_tick, end_tick;
	uint64_t clear_tick;	/* of a clear since then; 0: there was none */
	/* What was asked for before this tick has been served, but for what
	 * was not there to be seen at this time. */
	uint64_t settled;
	uint64_t start_ns;	/* --delay: when to start; 0: not by itself */
	uint64_t stop_ns;	/* --duration: when to stop; likewise */
	uint32_t served[CONTROL_KINDS];	/* of the recorder's `signalled` */
	uint64_t *names;	/* of snapshots, as hashes; NULL until the first */
	uint32_t name_count;
};

/* At the begin of the trace: nothing is recorded yet where that is wanted. */
void control_begin(struct writer *w);

/*
 * All rings were scanned, and nothing was taken since. Serves what handlers have
 * asked for before (gate.h), as of when they did.
 */
void control_scanned(struct writer *w);

/* In each round: what signals and clocks ask for. */
void control_step(struct writer *w, uint64_t now_ns);

/* How long the writer may sleep for all that. */
uint64_t control_wait_ns(const struct writer *w);

/*
 * Serves a request. The writer only. -EALREADY: it is so already; -EAGAIN:
 * to be asked again in the next round.
 * A snapshot is only begun by it: `number` and `name` are what it got, and
 * control_taken says when it is there.
 */
void control_do(struct writer *w, struct control_request *request);
bool control_taken(const struct writer *w, uint64_t number);

/* Writes a CONTROL record. */
void control_emit(struct writer *w, enum gt_control_what what, uint64_t tick,
		  uint64_t number, const char *name);

/* Whether an event of this tick counts: see struct control. */
static inline bool control_counts(const struct control *control,
				  uint64_t tick)
{
	return tick >= control->begin_tick &&
	       (!control->end_tick || tick < control->end_tick);
}

#endif
