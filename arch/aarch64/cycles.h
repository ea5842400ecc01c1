/*
 * cycles.h (AArch64): the virtual counter of the generic timer, which Linux
 * lets user code read, without a barrier: the processor may read it some tens
 * of cycles early, which the reader's window allows for.
 */
#ifndef GNOMON_ARCH_CYCLES_H
#define GNOMON_ARCH_CYCLES_H

#include <stdbool.h>
#include <stdint.h>

/* Of the counter, as an order of magnitude: from 19 (phones) to 1000 (Armv9)
 * have been seen. */
#define ARCH_TICKS_PER_US 50u

static inline uint64_t arch_cycles(void)
{
	uint64_t ticks;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
	return ticks;
}

/* How many of them a second has; 0: only a measurement tells. */
static inline uint64_t arch_cycles_hz(void)
{
	uint64_t hz;

	__asm__("mrs %0, cntfrq_el0" : "=r"(hz));
	return hz;
}

/* The thread pointer: on glibc and musl the highest end of a thread's stack
 * that the C library allocated lies below it, with nothing but the library's
 * own data of the thread between. */
static inline uintptr_t arch_thread_pointer(void)
{
	uintptr_t tp;

	__asm__("mrs %0, tpidr_el0" : "=r"(tp));
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
