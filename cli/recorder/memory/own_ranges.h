/*
 * own_ranges.h: address ranges of the target that belong to gnomon: the area,
 * and mapped pieces of the live mapping. The target adds ranges as it maps
 * them.
 */
#ifndef GNOMON_OWN_RANGES_H
#define GNOMON_OWN_RANGES_H

#include <stdbool.h>
#include <stdint.h>

#include "preload/ring/shared.h"

/* Sorted by address; adjacent ranges are merged. */
struct own_ranges {
	struct gl_range range[GL_OWN + 1];
	unsigned count;
};

/* Reads the ranges that the target publishes now. */
void own_ranges_find(struct own_ranges *own, const struct gl_shared *shared);

/* Adds a range that the target does not publish. */
void own_ranges_put(struct own_ranges *own, struct gl_range range);

/* Whether `start` is in one of our ranges. Reduces *end to the next border
 * between our memory and other memory. */
bool own_ranges_cut(const struct own_ranges *own, uint64_t start,
		    uint64_t *end);

/* Whether all of [start, end) is ours. */
bool own_ranges_have(const struct own_ranges *own, uint64_t start,
		     uint64_t end);

/* Sorted by address, adjacent ranges merged. With GNOMON_CLAIMS. */
bool own_ranges_is_valid(const struct own_ranges *own);

#endif
