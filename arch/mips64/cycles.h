/*
 * cycles.h (MIPS64): reads the clock (arch/monotonic.h). The processor's own
 * counter (rdhwr $2) has 32 bits, which overflow within seconds, and differs
 * between processors.
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

/* The thread's control block, at an offset from the thread pointer: on glibc
 * and musl the highest end of a thread's stack that the C library allocated
 * lies below it, with only the library's thread data in between. */
static inline uintptr_t arch_thread_pointer(void)
{
	uintptr_t tp;

	__asm__("rdhwr %0, $29" : "=v"(tp));
	return tp - 0x7000;
}

/* User code can neither single-step itself nor detect that it is stepped. */
static inline bool arch_is_stepped(void)
{
	return false;
}

/* PAUSE waits for a store that may never come. */
static inline void arch_pause(void)
{
	__asm__ volatile("" ::: "memory");
}

#endif
