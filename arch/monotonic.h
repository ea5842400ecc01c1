/*
 * monotonic.h: time stamps from the monotonic clock, in nanoseconds, for ports
 * without a counter that user code can read on all processors (cycles.h).
 *
 * In the target the vDSO's clock function reads it, once that has been found
 * (unwind/elf/vdso.h). Before that, without a vDSO, and in the recorder, a system
 * call reads the same clock. Any thread, also signal handlers.
 */
#ifndef GNOMON_ARCH_MONOTONIC_H
#define GNOMON_ARCH_MONOTONIC_H

#include <stdint.h>
#include <time.h>

#include "syscall.h"

#define ARCH_CLOCK 1
#define ARCH_CLOCK_NAME "__vdso_clock_gettime"
#define ARCH_TICKS_PER_US 1000u

#ifdef GNOMON_TARGET
/* Set once, before threads are recorded. NULL: use a system call. A result
 * other than 0: the function cannot read the clock. */
extern __attribute__((visibility("hidden")))
int (*arch_clock)(clockid_t clock, struct timespec *now);
#define ARCH_CLOCK_ASK(now) \
	(!arch_clock || arch_clock(CLOCK_MONOTONIC, now))
#else
#define ARCH_CLOCK_ASK(now) 1
#endif

static inline uint64_t arch_cycles(void)
{
	struct timespec now = { 0, 0 };

	/* cannot fail: this clock always exists */
	if (ARCH_CLOCK_ASK(&now))
		arch_syscall6(__NR_clock_gettime, CLOCK_MONOTONIC, (long)&now,
			      0, 0, 0, 0);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

#endif
