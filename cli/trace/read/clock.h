/*
 * clock.h: converts the target's ticks to nanoseconds, by the pairs of SYNC
 * chunks.
 */
#ifndef GNOMON_CLOCK_H
#define GNOMON_CLOCK_H

#include <stddef.h>
#include <stdint.h>

#define CLOCK_PAIRS_MAX 4096

struct clock_pair {
	uint64_t ticks;
	uint64_t ns;		/* CLOCK_MONOTONIC */
};

struct clock {
	struct clock_pair *pairs;	/* ascending */
	size_t count;
	size_t capacity;
	uint64_t tick_ps;	/* INFO's estimate, 0 if it has none */
};

/* Pairs that do not ascend are ignored. */
void clock_add(struct clock *clock, uint64_t ticks, uint64_t ns);
/* CLOCK_MONOTONIC at that tick; 0 if there are no pairs. */
uint64_t clock_ns(const struct clock *clock, uint64_t ticks);
/* Nanoseconds of a tick, on average; 0: unknown. */
double clock_rate(const struct clock *clock);
void clock_free(struct clock *clock);

#endif
