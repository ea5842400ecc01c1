/*
 * live_map.h: maps the live file in the target. Nodes and the data of rings are
 * mapped in pieces (preload/format.h), by the first thread that needs one. The
 * recorder has mapped the complete file.
 */
#ifndef GNOMON_LIVE_MAP_H
#define GNOMON_LIVE_MAP_H

#include <stdbool.h>
#include <stdint.h>

#include "preload/base/base.h"
#include "preload/ring/shared.h"

enum live_region { LIVE_NODES, LIVE_DATA, LIVE_REGIONS };

struct live_range {
	char *at;
	uint64_t bytes;
};

/*
 * Unmaps the parts of a new mapping that are not needed yet, if they can be
 * mapped again later without a descriptor. Returns whether. Only system calls,
 * as live_make.
 */
bool live_map_cut(const struct gl_header *live);

/* Publishes the mapping to the recorder; it is complete (`whole`) or cut.
 * Before all functions below; called by the thread that starts the recorder. */
void live_map_begin(struct gl_header *live, bool whole);

/*
 * The i-th piece of a region; NULL: it cannot be mapped, or does not exist. Any
 * thread, also signal handlers; makes system calls the first time, does not
 * wait.
 */
void *live_map_piece(enum live_region which, unsigned i);

/* The address of this offset of the live file in the data of rings. NULL as
 * above. */
void *live_map_data(uint64_t offset);

/* The struct gl_thread of an existing ring. NULL as above. */
struct gl_thread *live_map_thread(const struct gl_shared *shared,
				  uint32_t ring);

/* Maps all pieces, before mapping is forbidden. */
void live_map_fill(void);

/* All mapped ranges, in this process or, in a child that has not started its
 * recorder, in its parent. Returns how many. */
unsigned live_map_ranges(struct live_range to[GL_LIVE_RANGES]);

/* In a child: forgets the parent's mapping. */
void live_map_forget(void);

#endif
