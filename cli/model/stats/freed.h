/*
 * freed.h: who frees, for a trace recorded with stacks of frees: for each call
 * stack that freed blocks, their number, bytes and lifetimes. If requested, the
 * same for each pair of a stack that allocated and a stack that freed. A
 * realloc that moves a block frees the old one.
 */
#ifndef GNOMON_FREED_H
#define GNOMON_FREED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/base/table.h"

#define FREED_UNKNOWN 0		/* node of frees with an unknown stack */
#define FREED_NO_COST UINT32_MAX

struct freed_sum {
	uint64_t blocks;
	uint64_t bytes;
	double lifetime;	/* ticks, sum over the blocks */
};

struct freed_row {
	struct freed_sum sum;
	uint32_t node;		/* the stack that freed */
	uint32_t next;		/* for a pair: the next in pairs; 0: none */
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
/* The stack `node` freed blocks. `cost`: of the context that allocated them;
 * FREED_NO_COST: no pairs are requested. */
void freed_add(struct freed *freed, uint32_t node, uint32_t cost,
	       const struct freed_sum *sum);
/* Iterates over the stacks that freed blocks of a cost: *at is 0 at first.
 * NULL: no more. */
const struct freed_row *freed_next(const struct freed *freed, uint32_t cost,
				   uint32_t *at);
void freed_free(struct freed *freed);

/* I1 in total, and lists end. With GNOMON_DEBUG_ASSERTS. */
bool freed_is_valid(const struct freed *freed);

#endif
