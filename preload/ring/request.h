/*
 * request.h: synchronous requests of a thread of the target to the recorder: a
 * system call that the recorder itself must make, or that the thread must not
 * make; a query about the recording. One at a time. Request and answer are
 * passed by value (struct gl_request).
 */
#ifndef GNOMON_REQUEST_H
#define GNOMON_REQUEST_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "preload/base/base.h"
#include "preload/ring/shared.h"

struct producer;

/* A request, as its sender passes it. */
struct request_args {
	enum request_kind what;
	long number;
	long arg[6];
	const void *data;
	uint32_t bytes;		/* with more_bytes at most GL_REQUEST_ROOM */
	void *back;		/* receives as many bytes, as the answer has
				 * changed them; may be NULL */
	void *more;		/* receives the part of the answer after
				 * `bytes` */
	uint32_t more_bytes;
};

/* The lock of the request. Used by hooks only, in the area. */
struct request_turn {
	_Atomic uintptr_t holder;	/* thread pointer of the holder; 0:
					 * free */
	uintptr_t cfa, ra; /* of the holder's request_make (abandoned.h); cfa
				 * 0: not known yet */
	_Atomic uint32_t left;	/* futex: number of requests that are done */
	_Atomic uint32_t waits;	/* a thread may sleep on `left` */
};

/* Constant from the first start on, also in children. */
extern BASE_HIDDEN struct request_turn *request_turn;

/* Allocates request_turn (area_place). */
void request_alloc(void);

/*
 * Sends a request and waits for the answer. Any thread of the target, also in
 * handlers; threads take turns. False: there is no answer. Then there is no
 * recorder, or it took too long (some seconds), or the caller is a handler that
 * interrupted a request (request_interrupted). Signals are blocked meanwhile,
 * unless the process may not do that any more.
 */
bool request_make(struct producer *p, const struct request_args *args,
		  long *result);

/*
 * Calls `each` for every range of the program's memory, in order of address, as
 * the recorder finds them, without our own memory. blocks: only private,
 * writable memory without a file. `part` has space for `room` ranges. False:
 * there is no answer (any more).
 */
bool request_memory(struct producer *p, bool blocks, struct gl_range *part,
		    unsigned room,
		    void (*each)(void *owner, struct gl_range range),
		    void *owner);

/* Whether the calling thread is already inside a request, further out: that
 * request cannot continue before this call returns. sp: of the caller of this
 * function, after its return. */
bool request_interrupted(uintptr_t sp);

/* Before a request: checks that the caller holds the lock and that there is no
 * other request. With GNOMON_DEBUG_ASSERTS. */
bool request_is_valid(const struct request_turn *turn,
		      const struct gl_request *request);

#endif
