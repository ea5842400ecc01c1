/*
 * cycles.h (AArch64): the virtual counter of the generic timer, which Linux
 * lets user code read. It is read without a barrier: the processor may read it
 * some tens of cycles early, which the reader's window allows for.
 */
#ifndef GNOMON_ARCH_CYCLES_H
#define GNOMON_ARCH_CYCLES_H

#include <stdbool.h>
#include <stdint.h>

/* Order of magnitude of the counter's rate: 19 (phones) to 1000 (Armv9)
 * occur. */
#define ARCH_TICKS_PER_US 50u

static inline uint64_t arch_cycles(void)
{
	uint64_t ticks;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
	return ticks;
}

/* Ticks per second; 0: unknown, must be measured. */
static inline uint64_t arch_cycles_hz(void)
{
	uint64_t hz;

	__asm__("mrs %0, cntfrq_el0" : "=r"(hz));
	return hz;
}

/* The thread pointer: on glibc and musl the highest end of a thread's stack
 * that the C library allocated lies below it, with only the library's thread
 * data in between. */
static inline uintptr_t arch_thread_pointer(void)
{
	uintptr_t tp;

	__asm__("mrs %0, tpidr_el0" : "=r"(tp));
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
