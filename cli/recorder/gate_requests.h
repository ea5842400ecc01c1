/*
 * gate_requests.h: handles start and stop requests at the record gate (the
 * recorder's half of gate.h). The recorder takes them in order, and opens the
 * gate if one requests it. The recorder only.
 */
#ifndef GNOMON_GATE_REQUESTS_H
#define GNOMON_GATE_REQUESTS_H

#include "preload/ring/gate.h"

struct gate_request {
	enum gate_what what;
	uint64_t cycles;	/* when */
};

/* Whether there is a request. */
bool gate_pending(const struct gl_shared *shared);

/* False: more requests are counted than there are slots, so the memory is
 * damaged. */
bool gate_is_possible(const struct gl_shared *shared);

/* The next request. False: there is none. */
bool gate_next(struct gl_shared *shared, struct gate_request *request);

/* Removes the request that gate_next returned. */
void gate_take(struct gl_shared *shared);

void gate_open(struct gl_shared *shared);

#endif
