/*
 * grown.h: growable arrays with a size limit, for data that grows with the
 * recording. The writer only.
 */
#ifndef GNOMON_GROWN_H
#define GNOMON_GROWN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Starts zeroed, with `most` set. */
struct grown {
	char *at;		/* moves when the array grows */
	uint64_t ready;		/* usable bytes; zeroed at first */
	uint64_t most;		/* limit, in bytes */
};

/* Makes at least `bytes` of the array usable. False: over the limit, or no
 * memory; the array is unchanged. */
bool grown_more(struct grown *grown, uint64_t bytes);

static inline bool grown_reach(struct grown *grown, uint64_t bytes)
{
	return bytes <= grown->ready || grown_more(grown, bytes);
}

#endif
