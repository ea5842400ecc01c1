/*
 * places.c: see places.h. Called by the reader's thread.
 */
#include "cli/model/core/places.h"

#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "cli/base/search.h"
#include "unwind/claim.h"

#ifdef GNOMON_CLAIMS
bool places_is_valid(const struct places *places)
{
	const struct place *list = places->list;
	uint64_t reach = 0, before = 0;

	for (size_t i = 0; i < places->count; i++) {
		reach = list[i].last > reach ? list[i].last : reach;
		if (list[i].start < before || list[i].last < list[i].start ||
		    list[i].reach != reach)
			return false;
		before = list[i].start;
	}
	return places->count <= places->capacity;
}
#endif

static bool starts_above(const void *list, size_t i, uint64_t address)
{
	return ((const struct place *)list)[i].start > address;
}

size_t places_up_to(const struct places *places, uint64_t to)
{
	return search_first(places->list, places->count, starts_above, to);
}

void places_add(struct places *places, uint64_t start, uint64_t size,
		uint32_t owner)
{
	uint64_t last = start + (size - 1);
	size_t at = places_up_to(places, start);
	struct place *list;

	if (size == 0)
		return;
	if (last < start)
		last = UINT64_MAX;
	GROW(places->list, places->count, places->capacity);
	list = places->list;
	memmove(list + at + 1, list + at,
		(places->count - at) * sizeof(*list));
	places->count++;
	list[at] = (struct place){ start, last, last, owner };
	if (at > 0 && list[at - 1].reach > last)
		list[at].reach = list[at - 1].reach;
	/* later entries reach at least as far as this one */
	for (at++; at < places->count && list[at].reach < last; at++)
		list[at].reach = last;
	CLAIM_FULL((places->count & (places->count - 1)) ||
		   places_is_valid(places));
}

void places_free(struct places *places)
{
	free(places->list);
	memset(places, 0, sizeof(*places));
}
