/*
 * owned_ranges.h: ranges of addresses, each with an owner, that may overlap;
 * finds all ranges that share an address with a given range.
 */
#ifndef GNOMON_OWNED_RANGES_H
#define GNOMON_OWNED_RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct owned_range {
	uint64_t start, last;	/* both included */
	uint64_t reach;		/* the largest `last` up to this entry */
	uint32_t owner;
};

/* A zeroed struct is empty. */
struct owned_ranges {
	struct owned_range *list;	/* by start */
	size_t count, capacity;
};

/* Adds [start, start + size), cut at the end of the address space. Size 0 adds
 * nothing. */
void owned_ranges_add(struct owned_ranges *owned_ranges, uint64_t start,
		      uint64_t size, uint32_t owner);

/*
 * All ranges that share an address with [from, to], the latest start first:
 *
 *	at = owned_ranges_up_to(places, to);
 *	while ((place = owned_ranges_next(places, &at, from)) != NULL)
 *
 * Takes a binary search and time for each result, unless long ranges begin far
 * before `from`.
 */
size_t owned_ranges_up_to(const struct owned_ranges *owned_ranges, uint64_t to);

static inline const struct owned_range *
owned_ranges_next(const struct owned_ranges *owned_ranges, size_t *at,
		  uint64_t from)
{
	while (*at > 0) {
		const struct owned_range *owned_range =
			&owned_ranges->list[--*at];

		if (owned_range->reach < from)
			return NULL;
		if (owned_range->last >= from)
			return owned_range;
	}
	return NULL;
}

/* Sorted by start, and `reach` is right. With GNOMON_DEBUG_ASSERTS. */
bool owned_ranges_is_valid(const struct owned_ranges *owned_ranges);

void owned_ranges_free(struct owned_ranges *owned_ranges);

#endif
