/*
 * arenas_asked.h: the writer's half of arenas.h. The writer only.
 */
#ifndef GNOMON_ARENAS_ASKED_H
#define GNOMON_ARENAS_ASKED_H

#include "cli/recorder/base/recording.h"
#include "preload/ring/arenas.h"

/* Has a thread asked. To be called again and again while it is ASKED: a
 * thread that could not do it leaves that to the next. */
void arenas_ask(struct recording *r);

/* Takes it back. */
void arenas_forget(struct recording *r);

/* The figures, if they have been taken. */
bool arenas_collect(struct recording *r, enum arenas_which which,
		    struct arenas *to);

#endif
