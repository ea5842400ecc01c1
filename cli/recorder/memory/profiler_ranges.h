/*
 * profiler_ranges.h: address ranges of the target that belong to gnomon: the
 * area, and mapped pieces of the live mapping. The target adds ranges as it
 * maps them.
 */
#ifndef GNOMON_PROFILER_RANGES_H
#define GNOMON_PROFILER_RANGES_H

#include <stdbool.h>
#include <stdint.h>

#include "preload/ring/shared.h"

/* Sorted by address; adjacent ranges are merged. */
struct profiler_ranges {
	struct gl_range range[GL_OWN + 1];
	unsigned count;
};

/* Reads the ranges that the target publishes now. */
void profiler_ranges_find(struct profiler_ranges *own,
			  const struct gl_shared *shared);

/* Adds a range that the target does not publish. */
void profiler_ranges_put(struct profiler_ranges *own, struct gl_range range);

/* Whether `start` is in one of our ranges. Reduces *end to the next border
 * between our memory and other memory. */
bool profiler_ranges_cut(const struct profiler_ranges *own, uint64_t start,
			 uint64_t *end);

/* Whether all of [start, end) is ours. */
bool profiler_ranges_have(const struct profiler_ranges *own, uint64_t start,
			  uint64_t end);

/* Sorted by address, adjacent ranges merged. With GNOMON_DEBUG_ASSERTS. */
bool profiler_ranges_is_valid(const struct profiler_ranges *own);

#endif
