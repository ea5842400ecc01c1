/*
 * owned_ranges.c: see owned_ranges.h. Called by the reader's thread.
 */
#include "cli/model/core/owned_ranges.h"

#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "cli/base/search.h"
#include "unwind/base/assertion.h"

#ifdef GNOMON_DEBUG_ASSERTS
bool owned_ranges_is_valid(const struct owned_ranges *owned_ranges)
{
	const struct owned_range *list = owned_ranges->list;
	uint64_t reach = 0, before = 0;

	for (size_t i = 0; i < owned_ranges->count; i++) {
		reach = list[i].last > reach ? list[i].last : reach;
		if (list[i].start < before || list[i].last < list[i].start ||
		    list[i].reach != reach)
			return false;
		before = list[i].start;
	}
	return owned_ranges->count <= owned_ranges->capacity;
}
#endif

static bool starts_above(const void *list, size_t i, uint64_t address)
{
	return ((const struct owned_range *)list)[i].start > address;
}

size_t owned_ranges_up_to(const struct owned_ranges *owned_ranges, uint64_t to)
{
	return search_first(owned_ranges->list, owned_ranges->count,
			    starts_above, to);
}

void owned_ranges_add(struct owned_ranges *owned_ranges, uint64_t start,
		      uint64_t size, uint32_t owner)
{
	uint64_t last = start + (size - 1);
	size_t at = owned_ranges_up_to(owned_ranges, start);
	struct owned_range *list;

	if (size == 0)
		return;
	if (last < start)
		last = UINT64_MAX;
	GROW(owned_ranges->list, owned_ranges->count, owned_ranges->capacity);
	list = owned_ranges->list;
	memmove(list + at + 1, list + at,
		(owned_ranges->count - at) * sizeof(*list));
	owned_ranges->count++;
	list[at] = (struct owned_range){ start, last, last, owner };
	if (at > 0 && list[at - 1].reach > last)
		list[at].reach = list[at - 1].reach;
	/* later entries reach at least as far as this one */
	for (at++; at < owned_ranges->count && list[at].reach < last; at++)
		list[at].reach = last;
	DEBUG_ASSERT((owned_ranges->count & (owned_ranges->count - 1)) ||
		     owned_ranges_is_valid(owned_ranges));
}

void owned_ranges_free(struct owned_ranges *owned_ranges)
{
	free(owned_ranges->list);
	memset(owned_ranges, 0, sizeof(*owned_ranges));
}
