/*
 * control.h: what may be asked of a recording while it runs: by a command
 * through the control socket, by signals, by the program itself, by time.
 */
#ifndef GNOMON_CONTROL_H
#define GNOMON_CONTROL_H

#include <stdbool.h>
#include <stdint.h>

#include "preload/format.h"

enum control_what {
	CONTROL_START,
	CONTROL_STOP,
	CONTROL_TOGGLE,
	CONTROL_SNAPSHOT,
	CONTROL_CLEAR,
	CONTROL_MARKER,
	CONTROL_HEAP,		/* `number` is to be called `name` */
	CONTROL_SYNC,		/* what was recorded so far is to be written */
	CONTROL_REPORT,
	CONTROL_KINDS
};

struct control_request {
	enum control_what what;
	uint64_t number;
	uint64_t tick;		/* of it; 0: when it is served */
	char name[GT_NAME_MAX];	/* "": none */
	/* the answer: 0 or -errno, and in words what is wrong */
	int err;
	char message[256];
};

struct writer;

/* Serves a request. The writer only. */
void control_do(struct writer *w, struct control_request *request);

/*
 * Has the writer serve it, and waits for the answer; the request may lie on
 * the stack. False: there is no writer that could answer. A thread of the
 * target outside of hooks, not in a handler.
 */
bool control_ask(struct control_request *request);

#endif
