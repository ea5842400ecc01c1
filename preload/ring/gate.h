/*
 * gate.h: whether anything is recorded at the time, and the requests of signal
 * handlers that may change that.
 *
 *	gate:     ┌────────── count ──────────┬─ 2 ─┬─ 1 ─┐
 *	          │ requests posted so far    │ OFF │SHUT │
 *	          └───────────────────────────┴─────┴─────┘
 *
 * Shut, nothing is recorded: the recorder is dormant (aside.h). A toggle opens
 * the gate before its handler returns, whatever it will turn out to mean: what
 * is recorded too much has a stamp that says so, what is not recorded is lost.
 * The writer serves requests in order (gate_serve.h), and shuts the gate only if
 * none was posted that it has not served.
 *
 * Request n lies in slot n modulo their number, from when it is posted until
 * the writer takes it:
 *
 *	empty(n) ─ handler: by compare and swap ─▶ tick and what, n is counted
 *	    ▲                                          │
 *	    └────────── writer: empty(n + slots) ──────┘
 *
 * I1: the stamp of a request is taken while its slot is the next to be filled.
 *     So stamps are in the order of slots, but for some cycles that a processor
 *     reads its counter too early; and later than all that happened before the
 *     handler, earlier than all that happens after it.
 * I2: a request is counted before its handler returns, by whoever gets to it.
 * I3: an empty slot has the number of its lap: who was late fills none of
 *     another lap.
 */
#ifndef GNOMON_GATE_H
#define GNOMON_GATE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "preload/ring/shared.h"

/* What is asked for; 0 is an empty slot. */
enum gate_what { GATE_TOGGLE = 1, GATE_CLEAR };

#define GATE_WHAT UINT64_C(3)	/* of a slot; the rest is its stamp, or lap */
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

/*
 * Notes that this is asked for, now. False: there is no slot left, or a thread
 * may not read the counter; that was counted. Any thread, also in a handler
 * that has interrupted this; nobody is waited for, errno is kept.
 */
bool gate_post(struct gl_shared *shared, enum gate_what what);

/* Shuts the gate, unless there are requests that were not taken. The writer,
 * which tries again in its next round, and who starts it. */
void gate_shut(struct gl_shared *shared);

/* Nothing opens it again. */
void gate_shut_for_good(struct gl_shared *shared);

/* Counts of requests, and that what is off is shut. With GNOMON_CLAIMS. */
bool gate_is_valid(const struct gl_shared *shared);

#endif
