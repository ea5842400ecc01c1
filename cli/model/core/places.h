/*
 * places.h: ranges of addresses, each with an owner, that may overlap; finds
 * all ranges that share an address with a given range.
 */
#ifndef GNOMON_PLACES_H
#define GNOMON_PLACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct place {
	uint64_t start, last;	/* both included */
	uint64_t reach;		/* the largest `last` up to this entry */
	uint32_t owner;
};

/* A zeroed struct is empty. */
struct places {
	struct place *list;	/* by start */
	size_t count, capacity;
};

/* Adds [start, start + size), cut at the end of the address space. Size 0 adds
 * nothing. */
void places_add(struct places *places, uint64_t start, uint64_t size,
		uint32_t owner);

/*
 * All ranges that share an address with [from, to], the latest start first:
 *
 *	at = places_up_to(places, to);
 *	while ((place = places_next(places, &at, from)) != NULL)
 *
 * Takes a binary search and time for each result, unless long ranges begin far
 * before `from`.
 */
size_t places_up_to(const struct places *places, uint64_t to);

static inline const struct place *places_next(const struct places *places,
					      size_t *at, uint64_t from)
{
	while (*at > 0) {
		const struct place *place = &places->list[--*at];

		if (place->reach < from)
			return NULL;
		if (place->last >= from)
			return place;
	}
	return NULL;
}

/* Sorted by start, and `reach` is right. With GNOMON_CLAIMS. */
bool places_is_valid(const struct places *places);

void places_free(struct places *places);

#endif
