/*
 * control_request.h: what may be asked of a recording while it runs, and the
 * answer. A thread of the target asks by value (ask.h); the recorder serves it.
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
	CONTROL_HEAP,		/* `number` is to be called `name` */
	CONTROL_SYNC,		/* what was recorded so far is to be written */
	CONTROL_REPORT,
	CONTROL_SNAPSHOT_EVERY,	/* `number` ns; 0: no more */
	CONTROL_STATS_EVERY,	/* the same, of lines of statistics */
	CONTROL_TICK,		/* `tick` is to be that of `number` ns */
	CONTROL_KINDS
};

ORDER_BEGIN

struct control_request {
	enum control_what what;
	uint64_t number;
	uint64_t tick;		/* of it; 0: when it is served */
	char name[GT_NAME_MAX];	/* "": none */
	/* the answer: 0 or -errno, and in words what is wrong */
	int err;
	char message[256];
};

ORDER_END

/* Whether no control characters are in it. */
static inline bool control_is_plain(const char *line, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if ((unsigned char)line[i] < ' ' || line[i] == 0x7f)
			return false;
	return true;
}

#endif
