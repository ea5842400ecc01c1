/*
 * lifespans.c: see lifespans.h.
 */
#include "cli/model/lifespans.h"

#include <stdlib.h>

#include "cli/base/grow.h"
#include "unwind/claim.h"

void lifespans_birth(struct lifespans *lifespans)
{
	if (lifespans->count == lifespans->capacity) {
		lifespans->capacity = lifespans->capacity * 2 + 4096;
		lifespans->class = grow_resize(lifespans->class,
					       lifespans->capacity, 1);
	}
	lifespans->class[lifespans->count++] = LIFESPAN_LIVE;
}

void lifespans_end(struct lifespans *lifespans, uint64_t number,
		   unsigned class)
{
	CLAIM_FULL(number > 0 && number <= lifespans->count);
	lifespans->class[number - 1] = (uint8_t)class;
}

void lifespans_free(struct lifespans *lifespans)
{
	if (lifespans != NULL)
		free(lifespans->class);
	free(lifespans);
}
