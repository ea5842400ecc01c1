/*
 * pairset.h: pairs of numbers, numbered from 0 in the order in which they were
 * met: for trees that are made of millions of (parent, what comes next). 16 to
 * 30 bytes a pair; nothing is ever removed.
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

/* A zeroed struct pairset is empty. The number of a pair; it was not there
 * before if that is what pair_count was. */
uint32_t pairset_number(struct pairset *set, uint32_t first, uint32_t second);
/* False: there is no such pair. */
bool pairset_find(const struct pairset *set, uint32_t first, uint32_t second,
		  uint32_t *number);
/* None is looked up any more: that memory is released, pairs[] stays. */
void pairset_settle(struct pairset *set);
void pairset_free(struct pairset *set);

/* Each pair is found, by its number. With GNOMON_CLAIMS. */
bool pairset_is_valid(const struct pairset *set);

#endif
