/*
 * time_ns.h: the kernel's clocks in nanoseconds, alone or paired with the
 * counter.
 */
#ifndef GNOMON_TIME_NS_H
#define GNOMON_TIME_NS_H

#include <stdint.h>
#include <time.h>

#include "cli/recorder/base/counter.h"

#define TIME_NS_SECOND 1000000000

static inline uint64_t time_ns_of(clockid_t clock)
{
	struct timespec ts = { 0, 0 };

	/* these clocks always exist */
	clock_gettime(clock, &ts);
	return ts.tv_sec * UINT64_C(1000000000) + ts.tv_nsec;
}

static inline uint64_t time_ns_now(void)
{
	return time_ns_of(CLOCK_MONOTONIC);
}

/* The counter and the clock at one moment. Of three readings it takes the
 * fastest, so that no page fault or task switch lies in between. */
static inline uint64_t time_ns_moment(uint64_t *cycles)
{
	uint64_t best = UINT64_MAX, when = 0;

	*cycles = 0;
	for (int i = 0; i < 3; i++) {
		uint64_t before = counter_now(), ns = time_ns_now();
		uint64_t took = counter_now() - before;

		if (took >= best && i)
			continue;
		best = took;
		*cycles = before + took / 2;
		when = ns;
	}
	return when;
}

#endif
