/*
 * gate.h: the record gate: whether recording is on, and requests of signal
 * handlers that may change that.
 *
 *	gate:     ┌────────── count ──────────┬─── 2 ────┬─── 1 ───┐
 *	          │ requests posted so far    │ CLOSED_… │ CLOSED  │
 *	          │                           │ FOR_GOOD │         │
 *	          └───────────────────────────┴──────────┴─────────┘
 *
 * While the gate is closed, nothing is recorded: the recorder is dormant
 * (skip.h). A toggle opens the gate before its handler returns, whether it will
 * turn out to mean on or off: surplus events are recognised by their stamps,
 * events that are not recorded are lost. The recorder handles requests in order
 * (gate_requests.h), and closes the gate only if it has handled all posted
 * requests.
 *
 * Request n lies in slot n modulo their number, from when it is posted until
 * the recorder takes it:
 *
 *	empty(n) ─ handler: by compare and swap ─▶ tick and what, n is counted
 *	    ▲                                          │
 *	    └────────── recorder: empty(n + slots) ────┘
 *
 * I1: the stamp of a request is taken while its slot is the next to be filled.
 * So stamps are in the order of slots, except for the few cycles by which a
 * processor reads its counter too early. They are later than all events before
 * the handler, and earlier than all events after it. I2: a request is counted
 * before its handler returns, by any thread. I3: an empty slot has the number
 * of its lap, that is, how often it was used before: a late thread fills no
 * slot of another lap. I4: only counted requests are taken, so taken <= count <=
 * taken + GATE_SLOTS.
 */
#ifndef GNOMON_GATE_H
#define GNOMON_GATE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "preload/ring/shared.h"

/* Kind of request; 0 is an empty slot. */
enum gate_what { GATE_TOGGLE = 1, GATE_CLEAR };

#define GATE_WHAT UINT64_C(3)	/* mask in a slot; the other bits are the stamp,
				 * or the lap */
#define GATE_STAMP 2

static inline uint64_t gate_count(uint64_t gate)
{
	return gate / GATE_ONE;
}

static inline order_64 *gate_slot(struct gl_shared *shared, uint64_t n)
{
	return &shared->posted.slot[n % GATE_SLOTS];
}

static inline uint64_t gate_empty(uint64_t n)
{
	return n / GATE_SLOTS << GATE_STAMP;
}

/* Whether the gate is closed; whether it will never open again. Any thread. */
static inline bool gate_is_closed(const struct gl_shared *shared)
{
	return atomic_load_explicit(&shared->gate, memory_order_relaxed) &
	       GATE_CLOSED;
}

static inline bool gate_is_closed_for_good(const struct gl_shared *shared)
{
	return atomic_load_explicit(&shared->gate, memory_order_relaxed) &
	       GATE_CLOSED_FOR_GOOD;
}

/*
 * Posts a request with the current time. False: it was refused, and `refused`
 * counts it: no slot is free, or some thread may not read the counter. Any
 * thread, also in a handler that has interrupted this; waits for nobody, errno
 * is kept.
 */
bool gate_post(struct gl_shared *shared, enum gate_what what);

/* Closes the gate, unless there are requests that were not taken. Called by the
 * recorder, which tries again in its next round, and by whoever starts it. */
void gate_close(struct gl_shared *shared);

/* Closes the gate permanently. */
void gate_close_for_good(struct gl_shared *shared);

/* Checks I4, and that CLOSED_FOR_GOOD implies CLOSED. With
 * GNOMON_DEBUG_ASSERTS. */
bool gate_is_valid(const struct gl_shared *shared);

#endif
