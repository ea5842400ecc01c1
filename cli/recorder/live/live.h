/*
 * live.h: the mapping that rings and context nodes lie in, and the file
 * behind it (preload/format.h). The target's threads only touch what was
 * reserved, at first by who made it, then by the recorder.
 */
#ifndef GNOMON_LIVE_H
#define GNOMON_LIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/trace/format/trace_format.h"
#include "preload/base/options.h"
#include "preload/ring/shared.h"
#include "unwind/claim.h"

#define LIVE_SIZE_MAX (UINT64_C(1) << 40)

struct live {
	struct gl_header *header;
	struct gl_header shape;	/* offsets and size, as they were checked */
	uint64_t size;
	uint64_t nodes_max;
	uint64_t nodes_reserved;
	bool nodes_used;	/* the first ones are ready */
	uint64_t images_reserved;	/* records */
	uint64_t heaps_reserved;	/* names */
	uint64_t budget;	/* bytes that may be reserved */
	uint64_t reserved;
	/* no room for those that were wanted last */
	bool nodes_refused, images_refused, heaps_refused;
	int fd;			/* -1: memory without a file */
	int err;		/* why there is no file; 0: not wanted */
	char path[GT_PATH_MAX];	/* "" without a file */
};

/*
 * Maps the file, or the segment of memory where fd is -1, and checks how it is
 * laid out. `path`: of the file, absolute, to remove it. 0 or -errno.
 */
int live_attach(struct live *live, int fd, int memory_id, const char *path);

/* Pages of [from, to) will not fault for want of space. 0 or -errno. */
int live_reserve(struct live *live, uint64_t from, uint64_t to);

/*
 * Pages of [from, to), which are reserved, are cleared here and now. Those that are
 * not are cleared by who touches them first, one page fault for each; those that
 * are come many at a time (context.c, ring.c). A wish only.
 */
void live_ready(struct live *live, uint64_t from, uint64_t to);

/* Extends what target threads may fill: nodes and images ahead of need, names
 * of heaps as they are wanted. */
void live_ahead(struct live *live);

/* Removes the file, if its path leads to it. The mapping stays. */
void live_unlink(struct live *live);

static inline void *live_at(const struct live *live, uint64_t offset)
{
	CLAIM_FULL(offset < live->size);
	return (char *)live->header + offset;
}

static inline struct gl_shared *live_shared(const struct live *live)
{
	return (struct gl_shared *)live_at(live, live->shape.shared_offset);
}

/* The recorder's own numbers, whatever the target writes. With GNOMON_CLAIMS. */
bool live_is_valid(const struct live *live);

#endif
