/*
 * cycles.h (ARM): reads the clock (arch/monotonic.h). No counter is readable
 * from user code on all processors: some have none, and Linux does not report
 * whether the others' works.
 */
#ifndef GNOMON_ARCH_CYCLES_H
#define GNOMON_ARCH_CYCLES_H

#include <stdbool.h>
#include <stdint.h>

#include "arch/monotonic.h"

/* Ticks per second; 0: unknown, must be measured. */
static inline uint64_t arch_cycles_hz(void)
{
	return 1000000000;
}

/* The thread pointer: on glibc and musl the highest end of a thread's stack
 * that the C library allocated lies below it, with only the library's thread
 * data in between. */
static inline uintptr_t arch_thread_pointer(void)
{
	uintptr_t tp;

	__asm__("mrc p15, 0, %0, c13, c0, 3" : "=r"(tp));
	return tp;
}

/* User code can neither single-step itself nor detect that it is stepped. */
static inline bool arch_is_stepped(void)
{
	return false;
}

static inline void arch_pause(void)
{
	__asm__ volatile("yield");
}

#endif
