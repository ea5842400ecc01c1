/*
 * lifespans.h: how long each block of a trace lived, by its number among all
 * births: what a pass finds out, so that the next one knows it when the block
 * begins. A byte a block.
 *
 * Called by the reader's thread.
 */
#ifndef GNOMON_LIFESPANS_H
#define GNOMON_LIFESPANS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Instead of a bucket of histograms.h. */
#define LIFESPAN_LIVE 0xfeu	/* it was not freed */
#define LIFESPAN_UNKNOWN 0xffu	/* it was lost, or is not known */

struct lifespans {
	uint8_t *class;
	uint64_t count, capacity;
};

/* Births are numbered from 1: the next one. It lives so far. */
void lifespans_birth(struct lifespans *lifespans);
void lifespans_end(struct lifespans *lifespans, uint64_t number,
		   unsigned class);
/* Of one that has no number here, LIFESPAN_UNKNOWN. */
static inline unsigned lifespans_class(const struct lifespans *lifespans,
				       uint64_t number)
{
	return number - 1 < lifespans->count ? lifespans->class[number - 1] :
					       LIFESPAN_UNKNOWN;
}
/* NULL is allowed. */
void lifespans_free(struct lifespans *lifespans);

#endif
