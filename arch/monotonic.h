/*
 * monotonic.h: time stamps of ports whose processors have no counter that user
 * code may read on all of them (cycles.h): the monotonic clock, in nanoseconds.
 *
 * In the target it is asked by the function that the kernel maps into each
 * process, once that was found (unwind/vdso.h); till then, where there is none,
 * and in the recorder, by a system call. Both are the same clock. Any thread,
 * also signal handlers.
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
/* Set once, before threads are recorded. NULL: a system call. Not 0: the clock
 * cannot be read so. */
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

	/* this clock always exists */
	if (ARCH_CLOCK_ASK(&now))
		arch_syscall6(__NR_clock_gettime, CLOCK_MONOTONIC, (long)&now,
			      0, 0, 0, 0);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

#endif
