/*
 * grown.h: the recorder's arrays that grow with what is recorded: within a
 * limit, and only as far as there is memory. The writer only.
 */
#ifndef GNOMON_GROWN_H
#define GNOMON_GROWN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Empty with `most` set. */
struct grown {
	char *at;		/* elsewhere when it has grown */
	uint64_t ready;		/* bytes that may be touched; zeroed at first */
	uint64_t most;		/* bytes it may have */
};

/* Makes at least `bytes` of it usable. False: that is too much, or there is no
 * memory; what there is stays. */
bool grown_more(struct grown *grown, uint64_t bytes);

static inline bool grown_reach(struct grown *grown, uint64_t bytes)
{
	return bytes <= grown->ready || grown_more(grown, bytes);
}

#endif
