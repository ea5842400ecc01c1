/*
 * live_map.h: what of the live mapping is mapped in the target. Nodes and the
 * data of rings are mapped in pieces (preload/format.h), by the thread that is
 * the first to need one. The recorder has mapped the whole file.
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
 * Gives back to the program all that is not needed yet of a mapping that was
 * just made, if it can be mapped again later without a descriptor. Whether.
 * System calls only, as live_make.
 */
bool live_map_cut(const struct gl_header *live);

/* The mapping is there, all of it (`whole`) or cut, and the recorder is told
 * so. Before anything that follows; who starts the recorder. */
void live_map_begin(struct gl_header *live, bool whole);

/*
 * The i-th piece of a region; NULL: it cannot be mapped, or there is none. Any
 * thread, also signal handlers; system calls the first time, no wait.
 */
void *live_map_piece(enum live_region which, unsigned i);

/* What lies at this offset of the live file in the data of rings. NULL as
 * above. */
void *live_map_data(uint64_t offset);

/* Of a ring that there is: what its thread says of itself. NULL as above. */
struct gl_thread *live_map_thread(const struct gl_shared *shared,
				  uint32_t ring);

/* Maps all pieces: mapping is going to be forbidden. */
void live_map_fill(void);

/* All that is mapped, in this process or, in a child that has not started its
 * recorder, in its parent. How many. */
unsigned live_map_ranges(struct live_range to[GL_LIVE_RANGES]);

/* A child has nothing of its parent's. */
void live_map_forget(void);

#endif
