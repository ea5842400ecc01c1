/*
 * turn.h: who may use a stamp for several events (ring.h, THE TURN): the
 * writer's half. The writer only.
 */
#ifndef GNOMON_TURN_H
#define GNOMON_TURN_H

#include "cli/recorder/feed.h"

/*
 * To be called in every pass. Now and then it looks how far each ring has
 * moved since, and offers the turn, offers it anew or takes it back.
 */
void turn_look(struct feed *feed, uint64_t now_ns);

/* Has the next event of any thread answer. Whoever has the turn loses it; if
 * hooks were faster, it has to be asked again. */
void turn_ask(struct gl_shared *shared);

/* Whether some ring has it: then the writer should not sleep for long. */
static inline bool turn_given(const struct gl_shared *shared)
{
	return atomic_load_explicit(&shared->turn, memory_order_relaxed) != 0;
}

#endif
