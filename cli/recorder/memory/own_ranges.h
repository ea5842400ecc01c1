/*
 * own_ranges.h: addresses of the target that are ours: the area and what is mapped
 * of the live mapping. More come as the target maps them.
 */
#ifndef GNOMON_OWN_RANGES_H
#define GNOMON_OWN_RANGES_H

#include <stdbool.h>
#include <stdint.h>

#include "preload/ring/shared.h"

/* By address; neighbours are one. */
struct own_ranges {
	struct gl_range range[GL_OWN + 1];
	unsigned count;
};

/* As they are told now. */
void own_ranges_find(struct own_ranges *own, const struct gl_shared *shared);

/* One more, which they do not tell. */
void own_ranges_put(struct own_ranges *own, struct gl_range range);

/* Whether what begins at `start` is ours; *end goes back to where that ends. */
bool own_ranges_cut(const struct own_ranges *own, uint64_t start,
		    uint64_t *end);

/* Whether all of [start, end) is ours. */
bool own_ranges_have(const struct own_ranges *own, uint64_t start,
		     uint64_t end);

/* By address, and neighbours are one. With GNOMON_CLAIMS. */
bool own_ranges_is_valid(const struct own_ranges *own);

#endif
