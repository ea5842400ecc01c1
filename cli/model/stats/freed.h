/*
 * freed.h: who frees, of a trace that was recorded with stacks of frees: for
 * each call stack that freed blocks, how many, how large, how long they had
 * lived. And, where that is wanted, the same for each pair of a stack that
 * allocated and one that freed. What realloc moves, it frees.
 */
#ifndef GNOMON_FREED_H
#define GNOMON_FREED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/base/table.h"

#define FREED_UNKNOWN 0		/* node of frees whose stack is not known */
#define FREED_NO_COST UINT32_MAX

struct freed_sum {
	uint64_t blocks;
	uint64_t bytes;
	double lifetime;	/* ticks, sum over the blocks */
};

struct freed_row {
	struct freed_sum sum;
	uint32_t node;		/* the stack that freed */
	uint32_t next;		/* of a pair: in pairs; 0: none */
};

struct freed {
	struct freed_row *rows;		/* one for each stack that freed */
	size_t row_count, row_capacity;
	struct table by_node;
	/* With MODEL_WANT_FREED_BY: */
	struct freed_row *pairs;	/* 0 is not used */
	size_t pair_count, pair_capacity;
	struct table by_pair;
	uint32_t *first;		/* by cost, in pairs; 0: none */
	size_t first_count;
};

void freed_sum_add(struct freed_sum *to, const struct freed_sum *more);
/* The stack `node` freed blocks; `cost`: of the context that had allocated
 * them, FREED_NO_COST: pairs are not wanted. */
void freed_add(struct freed *freed, uint32_t node, uint32_t cost,
	       const struct freed_sum *sum);
/* Who freed what a cost had allocated, one after the other: *at is 0 at first.
 * NULL: that was all. */
const struct freed_row *freed_next(const struct freed *freed, uint32_t cost,
				   uint32_t *at);
void freed_free(struct freed *freed);

/* I1, all in all, and that lists end. With GNOMON_CLAIMS. */
bool freed_is_valid(const struct freed *freed);

#endif
