/*
 * store_locator.h: finds the step of a timeline that contains a number, by a
 * table lookup that is nearly always exact. Private to the store.
 */
#ifndef GNOMON_STORE_LOCATOR_H
#define GNOMON_STORE_LOCATOR_H

#include <stddef.h>
#include <stdint.h>

#define STORE_LOCATOR_CELLS 16384

struct store_locator {
	const uint64_t *begins;	/* ascending; borrowed. The first is ignored */
	size_t steps;
	uint64_t low;		/* begin of the table */
	unsigned shift;		/* a cell is 1 << shift wide */
	uint32_t cells[STORE_LOCATOR_CELLS];	/* step at the begin of each
						 * cell */
};

void store_locator_init(struct store_locator *locator, const uint64_t *begins,
			size_t steps);

/* The last step that begins at the number or below; otherwise the first
 * step. */
static inline size_t store_locate(const struct store_locator *locator,
				  uint64_t number)
{
	uint64_t cell;
	size_t step;

	if (number < locator->low)
		return 0;
	cell = (number - locator->low) >> locator->shift;
	if (cell >= STORE_LOCATOR_CELLS)
		cell = STORE_LOCATOR_CELLS - 1;
	step = locator->cells[cell];
	while (step + 1 < locator->steps &&
	       locator->begins[step + 1] <= number)
		step++;
	return step;
}

#endif
