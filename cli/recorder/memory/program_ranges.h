/*
 * program_ranges.h: which memory of the target is the program's, not ours, as its
 * threads ask (ASK_MEMORY, ask.h).
 */
#ifndef GNOMON_PROGRAM_RANGES_H
#define GNOMON_PROGRAM_RANGES_H

#include "cli/recorder/memory/own_ranges.h"

/*
 * Of what [start, end) has from `from` on, what is not ours goes to `to`, which
 * has `count` of `room` in it. The new count. Neighbours are not joined: mlock(2)
 * stops where a mapping cannot be brought in.
 */
unsigned program_ranges_add(struct gl_range *to, unsigned count, unsigned room,
			    const struct own_ranges *own,
			    struct gl_range mapping, uint64_t from);

struct program_ranges {
	uint64_t from;
	struct gl_range image;	/* our library's */
	bool blocks;		/* only what may have blocks */
};

/* The first `room` of those that are wanted, as they are mapped now. How many,
 * or -errno. */
long program_ranges_read(struct gl_range *to, unsigned room,
			 const struct program_ranges *wanted,
			 const struct gl_shared *shared);

#endif
