/*
 * block_lifetimes.h: the lifetime class of each block of a trace, by the number
 * of its allocation. One pass fills it in; the next pass then knows the class
 * when the block is allocated. One byte per block.
 *
 * Called by the reader's thread.
 */
#ifndef GNOMON_BLOCK_LIFETIMES_H
#define GNOMON_BLOCK_LIFETIMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Values other than buckets of histograms.h. */
#define BLOCK_LIFETIME_LIVE 0xfeu	/* never freed */
#define BLOCK_LIFETIME_UNKNOWN 0xffu	/* lost, or not known */

struct block_lifetimes {
	uint8_t *class;
	uint64_t count, capacity;
};

/* Adds the next allocation, live so far. Numbers begin at 1. */
void block_lifetimes_begin(struct block_lifetimes *block_lifetimes);
void block_lifetimes_end(struct block_lifetimes *block_lifetimes,
			 uint64_t number, unsigned class);
/* BLOCK_LIFETIME_UNKNOWN for a number that is not in the list. */
static inline unsigned
block_lifetimes_class(const struct block_lifetimes *block_lifetimes,
		      uint64_t number)
{
	return number - 1 < block_lifetimes->count
		       ? block_lifetimes->class[number - 1]
		       : BLOCK_LIFETIME_UNKNOWN;
}
/* NULL is allowed. */
void block_lifetimes_free(struct block_lifetimes *block_lifetimes);

#endif
