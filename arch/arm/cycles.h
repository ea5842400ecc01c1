/*
 * cycles.h (ARM): the clock (arch/monotonic.h). There is no counter that user code
 * may read on all processors: some have none, and of those that have Linux does
 * not say whether it works.
 */
#ifndef GNOMON_ARCH_CYCLES_H
#define GNOMON_ARCH_CYCLES_H

#include <stdbool.h>
#include <stdint.h>

#include "arch/monotonic.h"

/* How many of them a second has; 0: only a measurement tells. */
static inline uint64_t arch_cycles_hz(void)
{
	return 1000000000;
}

/* The thread pointer: on glibc and musl the highest end of a thread's stack
 * that the C library allocated lies below it, with nothing but the library's
 * own data of the thread between. */
static inline uintptr_t arch_thread_pointer(void)
{
	uintptr_t tp;

	__asm__("mrc p15, 0, %0, c13, c0, 3" : "=r"(tp));
	return tp;
}

/* User code can neither have itself stepped nor see that it is. */
static inline bool arch_is_stepped(void)
{
	return false;
}

static inline void arch_pause(void)
{
	__asm__ volatile("yield");
}

#endif
