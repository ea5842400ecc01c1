/*
 * control_request.h: requests that control a running recording, and their
 * answers. A thread of the target sends them by value (request.h); the recorder
 * handles them.
 */
#ifndef GNOMON_CONTROL_REQUEST_H
#define GNOMON_CONTROL_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "preload/format.h"

enum control_what {
	CONTROL_START,
	CONTROL_STOP,
	CONTROL_TOGGLE,
	CONTROL_SNAPSHOT,
	CONTROL_CLEAR,
	CONTROL_MARKER,
	CONTROL_HEAP,		/* gives heap `number` the name `name` */
	CONTROL_SYNC,		/* writes out what was recorded so far */
	CONTROL_REPORT,
	CONTROL_SNAPSHOT_EVERY,	/* `number` ns; 0: stops */
	CONTROL_STATS_EVERY,	/* the same, for lines of statistics */
	CONTROL_TICK,		/* sets `tick` to that of `number` ns */
	CONTROL_KINDS
};

ORDER_BEGIN

struct control_request {
	enum control_what what;
	uint64_t number;
	uint64_t tick;		/* time of the request; 0: when it is handled */
	char name[GT_NAME_MAX];	/* "": none */
	/* the answer: 0 or -errno, and an error message */
	int err;
	char message[256];
};

ORDER_END

/* Whether the line has no control characters. */
static inline bool control_is_plain(const char *line, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if ((unsigned char)line[i] < ' ' || line[i] == 0x7f)
			return false;
	return true;
}

#endif
