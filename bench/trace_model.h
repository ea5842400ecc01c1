/*
 * trace_model.h: the statistics that make a generated trace resemble a real
 * program's: how deep stacks are and how much they share, how soon a context
 * allocates again, its sizes, how long blocks live. Measured by
 * trace_measure.c, used by trace_generate.c, stored as text in bench/models.
 *
 * A *distribution* counts values in buckets: one for each below 8, then four
 * for each power of two. Drawing picks a bucket by Walker's alias method
 * (ACM TOMS 3, 1977), then a value in it evenly.
 *
 * The text: lines "word value" for numbers, "word first:count …" for
 * distributions, where first is a bucket's smallest value; the counts of
 * several lines with one word are added up. # begins a comment.
 */
#ifndef GNOMON_TRACE_MODEL_H
#define GNOMON_TRACE_MODEL_H

#include <stdint.h>
#include <stdio.h>

#define SPREAD_BUCKETS (8 + 4 * 61)

struct spread {
	uint64_t count[SPREAD_BUCKETS];
	uint64_t total;
	uint32_t keep[SPREAD_BUCKETS];	/* of 2^32: stay in this bucket, */
	uint16_t other[SPREAD_BUCKETS];	/* else take this one */
};

enum model_number {
	MODEL_EVENTS,
	MODEL_ALLOCATIONS,
	MODEL_CONTEXTS,		/* that allocated */
	MODEL_CONTEXTS_HALF,	/* of them in the first half of allocations */
	MODEL_ADDRESSES,	/* distinct return addresses */
	MODEL_FOREVER,		/* blocks that were never freed */
	MODEL_SAME_SIZE,	/* allocations of the context's last size */
	MODEL_REALLOCS,		/* that moved or resized a block, */
	MODEL_IN_PLACE,		/* of them at the same address */
	MODEL_NUMBERS
};

enum model_spread {
	MODEL_TICKS,		/* between two events */
	MODEL_DEPTH,		/* frames of a new context */
	MODEL_FRESH,		/* of them in no context before it */
	MODEL_RECENT,		/* allocations since its context's last one */
	MODEL_SIZE,		/* where it is not the context's last one */
	MODEL_LIFETIME,		/* allocations between a block's and its free */
	MODEL_SPREADS
};

struct trace_model {
	uint64_t number[MODEL_NUMBERS];
	struct spread spread[MODEL_SPREADS];
};

/* A generator of random numbers: splitmix64 (Steele, Lea, Flood 2014). */
static inline uint64_t spread_random(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

void spread_add(struct spread *spread, uint64_t value);
/* Make it ready to be drawn from. An empty one always gives 0. */
void spread_prepare(struct spread *spread);
uint64_t spread_draw(const struct spread *spread, uint64_t *random);
double spread_mean(const struct spread *spread);

void trace_model_print(const struct trace_model *model, FILE *out);
/* 0, or the number of the line that makes no sense; prepared for drawing. */
int trace_model_parse(struct trace_model *model, FILE *in);

#endif
