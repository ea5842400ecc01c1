/*
 * lifespans.h: the lifetime class of each block of a trace, by the number of
 * its allocation. One pass fills it in; the next pass then knows the class when
 * the block is allocated. One byte per block.
 *
 * Called by the reader's thread.
 */
#ifndef GNOMON_LIFESPANS_H
#define GNOMON_LIFESPANS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Values other than buckets of histograms.h. */
#define LIFESPAN_LIVE 0xfeu	/* never freed */
#define LIFESPAN_UNKNOWN 0xffu	/* lost, or not known */

struct lifespans {
	uint8_t *class;
	uint64_t count, capacity;
};

/* Adds the next allocation, live so far. Numbers begin at 1. */
void lifespans_birth(struct lifespans *lifespans);
void lifespans_end(struct lifespans *lifespans, uint64_t number,
		   unsigned class);
/* LIFESPAN_UNKNOWN for a number that is not in the list. */
static inline unsigned lifespans_class(const struct lifespans *lifespans,
				       uint64_t number)
{
	return number - 1 < lifespans->count ? lifespans->class[number - 1] :
					       LIFESPAN_UNKNOWN;
}
/* NULL is allowed. */
void lifespans_free(struct lifespans *lifespans);

#endif
