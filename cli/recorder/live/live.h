/*
 * live.h: the mapping that holds rings and context nodes, and the live file
 * behind it (preload/format.h). The target's threads only touch reserved pages.
 * The creator of the mapping reserves the first pages, the recorder all later
 * ones.
 */
#ifndef GNOMON_LIVE_H
#define GNOMON_LIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/trace/format/trace_format.h"
#include "preload/base/options.h"
#include "preload/ring/shared.h"
#include "unwind/base/assertion.h"

#define LIVE_SIZE_MAX (UINT64_C(1) << 40)

struct live {
	struct gl_header *header;
	struct gl_header shape;	/* offsets and size, checked copies */
	uint64_t size;
	uint64_t nodes_max;
	uint64_t nodes_reserved;
	bool nodes_used;	/* pages of the first nodes are populated */
	uint64_t images_reserved;	/* records */
	uint64_t heaps_reserved;	/* names */
	uint64_t budget;	/* bytes that may be reserved */
	uint64_t reserved;
	/* no room for the last requested ones */
	bool nodes_refused, images_refused, heaps_refused;
	int fd;			/* -1: memory without a file */
	int err;		/* why there is no file; 0: not requested */
	char path[GT_PATH_MAX];	/* "" without a file */
};

/*
 * Maps the file, or the shared memory segment if fd is -1, and checks its
 * layout. `path`: the file's absolute path, to remove it later. 0 or -errno.
 */
int live_attach(struct live *live, int fd, int memory_id, const char *path);

/* Allocates space for the pages of [from, to), so that access cannot fail for
 * lack of space. 0 or -errno. */
int live_reserve(struct live *live, uint64_t from, uint64_t to);

/*
 * Populates the reserved pages of [from, to). Otherwise the first access to
 * each page takes a page fault; after this call the kernel maps many pages per
 * fault (context.c, ring.c). A hint only.
 */
void live_ready(struct live *live, uint64_t from, uint64_t to);

/* Reserves more for target threads to fill: nodes and images ahead of need,
 * names of heaps on request. */
void live_ahead(struct live *live);

/* Removes the file, if its path still names it. The mapping stays. */
void live_unlink(struct live *live);

static inline void *live_at(const struct live *live, uint64_t offset)
{
	DEBUG_ASSERT(offset < live->size);
	return (char *)live->header + offset;
}

static inline struct gl_shared *live_shared(const struct live *live)
{
	return (struct gl_shared *)live_at(live, live->shape.shared_offset);
}

/* The recorder's own numbers are consistent, whatever the target writes. With
 * GNOMON_DEBUG_ASSERTS. */
bool live_is_valid(const struct live *live);

#endif
