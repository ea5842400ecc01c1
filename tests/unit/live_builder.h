/*
 * live_builder.h: a live mapping as the target makes it, in a directory of the
 * test's, and as the recorder attaches to it: mapped twice, at two addresses.
 */
#ifndef GNOMON_TESTS_LIVE_BUILDER_H
#define GNOMON_TESTS_LIVE_BUILDER_H

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <unistd.h>

#include "cli/recorder/live/live.h"
#include "preload/ring/live_map.h"
#include "preload/ring/shared.h"
#include "preload/start/live_make.h"

#define MIB (UINT64_C(1) << 20)
#define LIVE_RING 16384
#define LIVE_NO_RING (UINT64_C(1) << 40)	/* there is no room for it */

static char live_directory[64];

static int live_directory_make(void **state)
{
	(void)state;
	strcpy(live_directory, "/tmp/gnomon-unit-live-XXXXXX");
	return mkdtemp(live_directory) ? 0 : -1;
}

static int live_directory_remove(void **state)
{
	(void)state;
	return rmdir(live_directory);
}

static inline struct gl_shared *live_shared_of(const struct live_made *made)
{
	return (struct gl_shared *)((char *)made->header +
				    made->header->shared_offset);
}

static inline int live_make_in(struct live_made *made, const char *directory,
			       uint64_t memory, uint64_t ring)
{
	struct live_where where = {
		.live_dir = directory, .beside = "", .memory = memory,
		.ring = ring, .pid = 1, .random = 7,
	};
	int err = live_make(made, &where);
	struct gl_setup *setup;

	if (err)
		return err;
	live_map_begin(made->header, made->whole);
	setup = &live_shared_of(made)->setup;
	setup->budget = memory / 2;
	setup->reserved = made->reserved;
	setup->base = (uintptr_t)made->header;
	setup->live_error = made->err;
	setup->rings = made->ring_bytes != 0;
	setup->ring_bytes = made->ring_bytes;
	return 0;
}

/* What is mapped of the last one that was made. */
static inline void live_unmap(void)
{
	struct live_range range[GL_LIVE_RANGES];
	unsigned count = live_map_ranges(range);

	while (count--)
		munmap(range[count].at, range[count].bytes);
	live_map_forget();
}

/* The recorder has a descriptor of its own. */
static inline int live_attach_to(struct live *live,
				 const struct live_made *made)
{
	return live_attach(live, made->fd >= 0 ? dup(made->fd) : -1,
			   made->memory_id, made->path);
}

static inline void live_drop(struct live_made *made, struct live *live)
{
	uint64_t size = live->size;

	if (live->fd < 0)
		shmdt(live->header);
	else
		munmap(live->header, size);
	live_unlink(live);
	if (made->fd >= 0) {
		live_unmap();
		close(made->fd);
	} else {
		shmdt(made->header);
	}
}

#endif
