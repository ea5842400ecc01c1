/*
 * live_make.h: makes the live mapping, in a thread that starts the recorder or
 * in the task that helps it (launch.c). The recorder later grows it
 * (cli/recorder/live/live.h).
 */
#ifndef GNOMON_LIVE_MAKE_H
#define GNOMON_LIVE_MAKE_H

#include <stdbool.h>
#include <stdint.h>

#include "preload/format.h"

struct live_where {
	const char *live_dir;	/* option, "" for none */
	const char *beside;	/* pattern of the trace's path */
	uint64_t memory;	/* budget of everything */
	uint64_t ring;		/* bytes of the first ring, a power of two */
	bool small;	/* for a forked child: most do little, and end */
	bool core;	/* no named file, and included in core dumps */
	int pid;
	uint64_t random;	/* for the name */
};

struct live_made {
	struct gl_header *header;
	int fd;			/* of the file; -1: memory_id is used */
	bool small;		/* as in live_where */
	bool whole;		/* all of it is mapped (live_map.h) */
	int memory_id;		/* System V shared memory instead; -1 */
	int err;		/* why there is no named file; 0: not
				 * requested */
	uint64_t reserved;	/* bytes */
	uint64_t ring_bytes;	/* of the data region, of the first ring */
	char path[GT_PATH_MAX];	/* "": no named file */
};

/*
 * Makes the file, reserves its first parts and maps it; shared memory without a
 * name if no file can be made. It has one ring, so that the first thread need
 * not wait for the recorder. Fills in the layout in the header. 0 or -errno.
 * Makes system calls only; may run in a task that shares the target's memory.
 */
int live_make(struct live_made *made, const struct live_where *where);

/* Removes the file and closes descriptors; the mapping stays. */
void live_unmake(struct live_made *made);

#endif
