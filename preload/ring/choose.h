/*
 * choose.h: which blocks are recorded where not all are: a Poisson sample of
 * the allocated bytes.
 *
 * The bytes that a thread asks for are a line, on which points are drawn with
 * exponential distances of a mean M. A block is in the sample if there is a
 * point on its bytes: for n bytes with the probability 1 - exp(-n / M), which
 * is what a reader weights it by. A block of no bytes counts as one.
 *
 * No floating point: a program may have asked to be stopped where a result is
 * inexact, or look at that afterwards. No tables, no system calls; the state
 * is the caller's.
 */
#ifndef GNOMON_CHOOSE_H
#define GNOMON_CHOOSE_H

#include <stdbool.h>
#include <stdint.h>

/* Of a mean distance: more would not fit. */
#define CHOOSE_MEAN_MAX UINT64_C(0xffffffff)

/* Where a thread is on its line. */
struct choose {
	int64_t until;		/* bytes to the next point, that one included */
	uint64_t random;	/* of the generator */
};

/* Begins a line; `seed` is any number, best a different one for each. */
void choose_begin(struct choose *choose, uint64_t seed, uint64_t mean);

/* How far it is to the next point, from here. 1 … 45 × mean. */
int64_t choose_draw(struct choose *choose, uint64_t mean);

/* A number made of all bits of `x`, and nothing like those of its neighbours.
 */
uint64_t choose_mix(uint64_t x);

/* Bytes of the line that a block takes. */
static inline int64_t choose_length(uint64_t size)
{
	return (int64_t)(size + !size);
}

/* A block of `size` bytes was made: whether it is in the sample. */
static inline bool choose_take(struct choose *choose, uint64_t size,
			       uint64_t mean)
{
	int64_t left = choose->until - choose_length(size);
	bool taken = left <= 0;

	choose->until = taken ? choose_draw(choose, mean) : left;
	return taken;
}

#endif
