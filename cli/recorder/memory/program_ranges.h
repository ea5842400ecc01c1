/*
 * program_ranges.h: lists the target's mappings without gnomon's own memory, at
 * the request of its threads (REQUEST_MEMORY, request.h).
 */
#ifndef GNOMON_PROGRAM_RANGES_H
#define GNOMON_PROGRAM_RANGES_H

#include "cli/recorder/memory/profiler_ranges.h"

/*
 * Appends the parts of `mapping` from `from` on that are not ours to `to`,
 * which has `count` of `room` entries. Returns the new count. Adjacent mappings
 * stay separate: mlock(2) stops at a mapping that it cannot lock.
 */
unsigned program_ranges_add(struct gl_range *to, unsigned count, unsigned room,
			    const struct profiler_ranges *own,
			    struct gl_range mapping, uint64_t from);

struct program_ranges {
	uint64_t from;
	struct gl_range image;	/* our library's */
	bool blocks;		/* only mappings that may hold blocks */
};

/* Reads up to `room` requested ranges, as mapped now. Returns their number or
 * -errno. */
long program_ranges_read(struct gl_range *to, unsigned room,
			 const struct program_ranges *wanted,
			 const struct gl_shared *shared);

#endif
