/*
 * cycles.h (x86-64): the time-stamp counter, unfenced. A fence would cost as
 * much as the whole recording; neighbouring instructions may move by some
 * tens of cycles across it, which the reader's window allows for.
 */
#ifndef GNOMON_ARCH_CYCLES_H
#define GNOMON_ARCH_CYCLES_H

#include <stdbool.h>
#include <stdint.h>

/* Of the counter, as an order of magnitude. */
#define ARCH_TICKS_PER_US 2500u

static inline uint64_t arch_cycles(void)
{
	uint64_t ticks;

	/* put together here, because a compiler would clear the upper half
	 * of rax once more */
	__asm__ volatile("rdtsc\n\t"
			 "shl $32, %%rdx\n\t"
			 "or %%rdx, %0"
			 : "=a"(ticks)
			 :
			 : "rdx", "cc");
	return ticks;
}

/* How many of them a second has; 0: only a measurement tells. */
static inline uint64_t arch_cycles_hz(void)
{
	return 0;
}

/* The thread pointer: on glibc and musl the highest end of a thread's stack
 * that the C library allocated lies just below it. */
static inline uintptr_t arch_thread_pointer(void)
{
	uintptr_t tp;

	__asm__("mov %%fs:0, %0" : "=r"(tp));
	return tp;
}

/* The trap flag. */
static inline bool arch_is_stepped(void)
{
	return __builtin_ia32_readeflags_u64() & 0x100;
}

static inline void arch_pause(void)
{
	__builtin_ia32_pause();
}

#endif
