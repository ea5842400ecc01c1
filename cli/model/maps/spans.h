/*
 * spans.h: a set of ranges of the address space that do not overlap, each with
 * an owner (a number). Inserting a range cuts the ranges it overlaps.
 */
#ifndef GNOMON_SPANS_H
#define GNOMON_SPANS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SPANS_END (UINT64_C(1) << 63)	/* upper bound of all addresses */

struct span {
	uint64_t start, end;
	uint32_t owner;
	uint32_t flags;		/* the caller's */
	/* links of the tree */
	uint32_t left, right;	/* 0: none */
	uint32_t priority;
};

struct spans {
	struct span *list;	/* [0] is unused */
	size_t count;
	size_t capacity;
	uint32_t unused;	/* list of free entries, by `left` */
	uint32_t root;
	uint32_t random;
	uint64_t bytes;		/* in all ranges */
};

/* A zeroed struct spans is empty. */
void spans_free(struct spans *spans);

/* The span that holds the address or, if there is none, the first one above it;
 * else NULL. Valid until spans are put or cut. */
struct span *spans_at(const struct spans *spans, uint64_t address);

/* Removes [start, end). Calls `gone` for each removed piece; `gone` may be NULL
 * and must not change the set. */
void spans_cut(struct spans *spans, uint64_t start, uint64_t end,
	       void (*gone)(void *owner, const struct span *piece),
	       void *owner);

/* The same; returns the number of pieces. The list is sorted by address, and
 * the caller frees it. */
size_t spans_take(struct spans *spans, uint64_t start, uint64_t end,
		  struct span **pieces);

/* [start, end) is not empty, is free, and ends at SPANS_END or before. */
void spans_put(struct spans *spans, uint64_t start, uint64_t end,
	       uint32_t owner, uint32_t flags);

/* Splits the span that has this address inside, if there is one. */
void spans_split(struct spans *spans, uint64_t address);

/* The tree is a search tree and a heap by priority, spans do not overlap, and
 * the sum is right. With GNOMON_DEBUG_ASSERTS. */
bool spans_is_valid(const struct spans *spans);

#endif
