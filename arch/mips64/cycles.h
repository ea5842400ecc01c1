/*
 * cycles.h (MIPS64): the processor's own counter (rdhwr $2) has 32 bits, which
 * are through in some seconds, and is not the same on all processors; so the
 * clock is asked (arch/monotonic.h).
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

/* What the thread pointer stands for, which is that much further on: on glibc
 * and musl the highest end of a thread's stack that the C library allocated lies
 * below it, with nothing but the library's own data of the thread between. */
static inline uintptr_t arch_thread_pointer(void)
{
	uintptr_t tp;

	__asm__("rdhwr %0, $29" : "=v"(tp));
	return tp - 0x7000;
}

/* User code can neither have itself stepped nor see that it is. */
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
