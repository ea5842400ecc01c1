/*
 * live.h: the mapping that rings and context nodes lie in, and the file
 * behind it (preload/format.h). Owned by the writer; the threads of the
 * target only touch what the writer has reserved.
 */
#ifndef GNOMON_LIVE_H
#define GNOMON_LIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "preload/format.h"
#include "preload/options.h"

struct live {
	struct gl_header *header;
	uint64_t size;
	uint64_t nodes_max;
	uint64_t images_reserved;	/* records */
	uint64_t budget;	/* bytes that may be reserved */
	uint64_t reserved;
	/* no room for those that were wanted last */
	bool nodes_refused, images_refused;
	int fd;			/* -1: private memory, no file */
	int err;		/* why there is no file; 0: not wanted */
	char path[GT_PATH_MAX];	/* "" without a file */
};

struct live_where {
	const char *live_dir;	/* option, "" for none */
	const char *trace;	/* path of the trace, absolute, or "" */
	uint64_t memory;	/* budget of everything */
	bool core;	/* it is to be private memory, and part of a core */
	int pid;
	uint64_t random;	/* for the name */
};

/*
 * Creates the file, reserves its first parts and maps it; falls back to
 * private memory. The header is filled but for its magic. 0 or -ENOMEM.
 */
int live_open(struct live *live, const struct live_where *where);

/* Pages of [from, to) will not fault for want of space. 0 or -errno. */
int live_reserve(struct live *live, uint64_t from, uint64_t to);

/* Extends what target threads may fill: nodes and images ahead of need. */
void live_ahead(struct live *live);

/* Removes the file. The mapping stays. */
void live_unlink(struct live *live);

static inline void *live_at(const struct live *live, uint64_t offset)
{
	return (char *)live->header + offset;
}

#endif
