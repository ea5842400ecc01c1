/*
 * turn.h: which thread may reuse one stamp for several events: the recorder's
 * half (ring.h, THE TURN). The recorder only.
 */
#ifndef GNOMON_TURN_H
#define GNOMON_TURN_H

#include "cli/recorder/ring_drain.h"

/*
 * Call in every pass. At intervals, it measures how far each ring has advanced,
 * and offers the turn, offers it again or withdraws it.
 */
void turn_poll(struct ring_drain *drain, uint64_t now_ns);

/* Requests an answer from the next event of any thread, which takes the turn
 * from its holder. Call again if hooks were faster. */
void turn_request(struct gl_shared *shared);

/* Whether a ring has the turn: then the recorder should not sleep for long. */
static inline bool turn_given(const struct gl_shared *shared)
{
	return atomic_load_explicit(&shared->turn, memory_order_relaxed) != 0;
}

#endif
