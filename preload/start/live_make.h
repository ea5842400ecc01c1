/*
 * live_make.h: making the live mapping, by a thread that starts the recorder or
 * by the task that helps it (launch.c). What grows in it afterwards is the
 * recorder's (cli/recorder/live/live.h).
 */
#ifndef GNOMON_LIVE_MAKE_H
#define GNOMON_LIVE_MAKE_H

#include <stdbool.h>
#include <stdint.h>

#include "preload/format.h"

struct live_where {
	const char *live_dir;	/* option, "" for none */
	const char *beside;	/* where the trace is to be: pattern of its path */
	uint64_t memory;	/* budget of everything */
	uint64_t ring;		/* bytes of the first ring, a power of two */
	bool small;	/* of a forked child: most do little, and end */
	bool core;	/* no named file, and part of a core dump */
	int pid;
	uint64_t random;	/* for the name */
};

struct live_made {
	struct gl_header *header;
	int fd;			/* of the file; -1: memory_id has it */
	bool small;		/* as in live_where */
	bool whole;		/* all of it is mapped (live_map.h) */
	int memory_id;		/* System V shared memory in its place; -1 */
	int err;		/* why none has a name; 0: not wanted */
	uint64_t reserved;	/* bytes */
	uint64_t ring_bytes;	/* of the data region, of the first ring */
	char path[GT_PATH_MAX];	/* "" without a name */
};

/*
 * Makes the file, reserves its first parts and maps it; shared memory without a
 * name where none can be made. It has one ring, so that the first thread need not
 * wait for the recorder. What the layout needs in the header is filled in.
 * 0 or -errno. Makes system calls only; may run in a task that shares the
 * target's memory.
 */
int live_make(struct live_made *made, const struct live_where *where);

/* Removes the file and what else is left but the mapping. */
void live_unmake(struct live_made *made);

#endif
