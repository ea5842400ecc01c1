/* unwinders.h: the ways to take a stack that bench/capture_cost.c compares. */
#ifndef GNOMON_BENCH_UNWINDERS_H
#define GNOMON_BENCH_UNWINDERS_H

#include <stdint.h>

struct unwinder_tiers {
	uint64_t join, full;
};

struct unwinder {
	const char *name;
	int (*open)(void);	/* 0, or -1 if it cannot be had here */
	void (*hook)(void);	/* takes the caller's stack once */
};

/* By name; NULL if there is none. */
const struct unwinder *unwinder_find(const char *name);

/* Calls and returns: the cost that is subtracted. */
void unwinder_nothing(void);

/* Frames in the last stack that a hook of the opened unwinder took. */
unsigned unwinder_frames(void);

/* gnomon only: captures so far that were walks, joined to the shadow or in
 * full; the rest came from the path cache. Zero for the others. */
struct unwinder_tiers unwinder_tiers(void);

/* gnomon only: a hook that also takes the stack by glibc's backtrace() and
 * exits with a message if the two differ. NULL for the others. */
void (*unwinder_checked(void))(void);

#endif
