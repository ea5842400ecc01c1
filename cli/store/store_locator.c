/*
 * store_locator.c: see store_locator.h.
 */
#include "cli/store/store_locator.h"

#include "cli/base/search.h"
#include "unwind/base/assertion.h"

static bool begins_above(const void *list, size_t i, uint64_t number)
{
	return ((const uint64_t *)list)[i] > number;
}

/* Ignores steps after all stamps, so that they do not make the table
 * coarser. */
static uint64_t last_of(const uint64_t *begins, size_t steps)
{
	while (steps > 1 && begins[steps - 1] == UINT64_MAX)
		steps--;
	return steps > 1 ? begins[steps - 1] : 0;
}

void store_locator_init(struct store_locator *locator, const uint64_t *begins,
			size_t steps)
{
	uint64_t last = last_of(begins, steps);

	ASSERT(steps > 0);
	locator->begins = begins;
	locator->steps = steps;
	locator->low = steps > 1 ? begins[1] : UINT64_MAX;
	locator->shift = 0;
	while (last > locator->low &&
	       (last - locator->low) >> locator->shift >= STORE_LOCATOR_CELLS)
		locator->shift++;
	for (uint64_t i = 0; i < STORE_LOCATOR_CELLS && steps > 1; i++)
		locator->cells[i] = (uint32_t)search_first(begins + 1,
				steps - 1, begins_above,
				locator->low + (i << locator->shift));
}
