/*
 * spans.h: the address space as a set of ranges that do not overlap, each of
 * which belongs to something (a number). Ranges are cut where others begin.
 */
#ifndef GNOMON_SPANS_H
#define GNOMON_SPANS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SPANS_END (UINT64_C(1) << 63)	/* nothing lies beyond */

struct span {
	uint64_t start, end;
	uint32_t owner;
	uint32_t flags;		/* the caller's */
	/* of the tree */
	uint32_t left, right;	/* 0: none */
	uint32_t priority;
};

struct spans {
	struct span *list;	/* [0] is nobody */
	size_t count;
	size_t capacity;
	uint32_t unused;	/* list of free ones, by `left` */
	uint32_t root;
	uint32_t random;
	uint64_t bytes;		/* in all ranges */
};

/* A zeroed struct spans is empty. */
void spans_free(struct spans *spans);

/* The span that holds the address or, if there is none, the first one above
 * it; NULL. Valid until spans are put or cut. */
struct span *spans_at(const struct spans *spans, uint64_t address);

/* Takes everything out of [start, end); each piece is shown to `gone`, which
 * may be NULL and must not change the set. */
void spans_cut(struct spans *spans, uint64_t start, uint64_t end,
	       void (*gone)(void *owner, const struct span *piece),
	       void *owner);

/* The same; the pieces, by address, are the caller's to free. How many. */
size_t spans_take(struct spans *spans, uint64_t start, uint64_t end,
		  struct span **pieces);

/* [start, end) is not empty, ends at SPANS_END or before, and is free. */
void spans_put(struct spans *spans, uint64_t start, uint64_t end,
	       uint32_t owner, uint32_t flags);

/* A border between two spans at this address, if it lies inside of one. */
void spans_split(struct spans *spans, uint64_t address);

/* A search tree, a heap by priorities, no overlaps, and the sum. With
 * GNOMON_CLAIMS. */
bool spans_is_valid(const struct spans *spans);

#endif
