/*
 * counter.c: see counter.h.
 */
#include "cli/recorder/base/counter.h"

#include <stdbool.h>
#include <time.h>

#include "arch.h"

#define COUNTER_SECOND UINT64_C(1000000000)
#define COUNTER_LATE 2000	/* ns: tolerance of the target's pair of counter
				 * and clock */

static struct {
	uint64_t hz;		/* 0: this processor's counter */
	bool is_clock;		/* the counter equals the monotonic clock, in
				 * ns */
	uint64_t first, first_ns;	/* both read at one moment */
} counter;

void counter_of(const struct gl_setup *setup, const struct gl_header *live)
{
	if (setup->machine == ARCH_ELF_MACHINE)
		return;
	counter.hz = setup->counter_hz;
	counter.first = live->counter0;
	counter.first_ns = live->monotonic0_ns;
	/* a different counter of the same frequency has another start */
	counter.is_clock = counter.hz == COUNTER_SECOND &&
			   counter.first - counter.first_ns + COUNTER_SECOND <
				   2 * COUNTER_SECOND;
}

uint64_t counter_now(void)
{
	struct timespec now = { 0, 0 };
	uint64_t ns;

	if (!counter.hz)
		return arch_cycles();
	/* this clock always exists */
	clock_gettime(CLOCK_MONOTONIC, &now);
	ns = (uint64_t)now.tv_sec * COUNTER_SECOND + (uint64_t)now.tv_nsec;
	if (counter.is_clock)
		return ns;
	ns -= counter.first_ns + COUNTER_LATE;
	if ((int64_t)ns < 0)
		ns = 0;
	return counter.first + ns / COUNTER_SECOND * counter.hz +
	       ns % COUNTER_SECOND * counter.hz / COUNTER_SECOND;
}
