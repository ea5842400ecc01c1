/*
 * places.h: ranges of addresses, each with an owner, that may overlap; and
 * which of them share an address with another range.
 */
#ifndef GNOMON_PLACES_H
#define GNOMON_PLACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct place {
	uint64_t start, last;	/* both belong to it */
	uint64_t reach;		/* the largest `last` up to here */
	uint32_t owner;
};

/* A zeroed one is empty. */
struct places {
	struct place *list;	/* by start */
	size_t count, capacity;
};

/* [start, start + size), cut at the end of all addresses. Nothing for size
 * 0. */
void places_add(struct places *places, uint64_t start, uint64_t size,
		uint32_t owner);

/*
 * All that share an address with [from, to], the latest start first:
 *
 *	at = places_up_to(places, to);
 *	while ((place = places_next(places, &at, from)) != NULL)
 *
 * Takes the time of what is found, and of a binary search, unless long ranges
 * begin far before.
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

/* By start, and how far they reach. With GNOMON_CLAIMS. */
bool places_is_valid(const struct places *places);

void places_free(struct places *places);

#endif
