/*
 * program_ranges.h: which memory of the target is the program's, not ours, as its
 * threads ask (ASK_MEMORY, hooks_lock.c).
 */
#ifndef GNOMON_PROGRAM_RANGES_H
#define GNOMON_PROGRAM_RANGES_H

#include "cli/recorder/memory/own_ranges.h"

/*
 * Of what [start, end) has from `from` on, what is not ours goes to `to`, which
 * has `count` of `room` in it: neighbours are one. The new count.
 */
unsigned program_ranges_add(struct gl_range *to, unsigned count, unsigned room,
			    const struct own_ranges *own,
			    struct gl_range mapping, uint64_t from);

/* The first `room` ranges from `from` on, as they are mapped now; image: our
 * library's. How many, or -errno. */
long program_ranges_read(struct gl_range *to, unsigned room, uint64_t from,
			 struct gl_range image, const struct gl_shared *shared);

#endif
