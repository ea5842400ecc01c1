/* unwinders.h: the unwinders that bench/capture_cost.c compares, and gnomon's
 * for bench/cold_cost.c. "gnomon only" below includes the alternative in
 * bench/segments.h. */
#ifndef GNOMON_BENCH_UNWINDERS_H
#define GNOMON_BENCH_UNWINDERS_H

#include <stdbool.h>
#include <stdint.h>

struct unwinder_tiers {
	uint64_t join, full;
};

/* What gnomon says of the thread that it captured for. */
struct unwinder_thread {
	const char *mode;
	uint64_t bytes, path_bytes, path_bytes_max;
	uint64_t barriers_placed, barriers_met;
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

/* gnomon only: fills *thread, from any moment after open. False, and nothing
 * is written, for the others. */
bool unwinder_describe(struct unwinder_thread *thread);

/* gnomon only: captures as if a hook had been called from (ra, sp, fp). Whether
 * the outermost frame was reached. */
bool unwinder_capture_from(uintptr_t ra, uintptr_t sp, uintptr_t fp);

/* gnomon only: whether what was seen before makes a stack cheaper. */
bool unwinder_learns(void);

/* A hook that also takes the stack by glibc's backtrace() and exits with a
 * message if the two differ, for the opened unwinder. NULL for "nothing", and
 * for frame pointers, which the C library's functions do not have. */
void (*unwinder_checked(const struct unwinder *unwinder))(void);

#endif
