/*
 * pairset.h: a set of pairs of numbers, numbered from 0 in order of first use:
 * for trees of millions of nodes (parent, key). 16 to 30 bytes a pair; no pair
 * is ever removed.
 */
#ifndef GNOMON_PAIRSET_H
#define GNOMON_PAIRSET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pair {
	uint32_t first, second;
};

struct pairset {
	struct pair *pairs;
	size_t pair_count, pair_capacity;
	uint64_t *index;
	uint64_t index_mask;
};

/* A zeroed struct pairset is empty. Returns the number of a pair; a new pair
 * gets the previous pair_count. */
uint32_t pairset_number(struct pairset *set, uint32_t first, uint32_t second);
/* False: no such pair. */
bool pairset_find(const struct pairset *set, uint32_t first, uint32_t second,
		  uint32_t *number);
/* Releases the look-up index after the last look-up; pairs[] stays. */
void pairset_settle(struct pairset *set);
void pairset_free(struct pairset *set);

/* Checks that each pair is found by its number. With GNOMON_DEBUG_ASSERTS. */
bool pairset_is_valid(const struct pairset *set);

#endif
