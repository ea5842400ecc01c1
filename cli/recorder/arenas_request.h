/*
 * arenas_request.h: requests a thread of the target to measure the C library's
 * arenas (the recorder's half of arenas.h). The recorder only.
 */
#ifndef GNOMON_ARENAS_REQUEST_H
#define GNOMON_ARENAS_REQUEST_H

#include "cli/recorder/base/recording.h"
#include "preload/ring/arenas.h"

/* Requests the measures from a thread of the target. Call again while the state
 * is ASKED: a thread that cannot take them leaves the request to the next
 * thread. */
void arenas_request(struct recording *r);

/* Withdraws the request. */
void arenas_forget(struct recording *r);

/* Copies the measures to *to. False: no thread has taken them yet. */
bool arenas_collect(struct recording *r, enum arenas_which which,
		    struct arenas *to);

#endif
