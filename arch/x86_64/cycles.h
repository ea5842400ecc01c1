/*
 * cycles.h (x86-64): the time-stamp counter, unfenced. A fence would cost as
 * much as the whole recording. Neighbouring instructions may move across the
 * read by some tens of cycles, which the reader's window allows for.
 */
#ifndef GNOMON_ARCH_CYCLES_H
#define GNOMON_ARCH_CYCLES_H

#include <stdbool.h>
#include <stdint.h>

/* Order of magnitude of the counter's rate. */
#define ARCH_TICKS_PER_US 2500u

static inline uint64_t arch_cycles(void)
{
	uint64_t ticks;

	/* combined here, because a compiler would clear the upper half of rax
	 * again */
	__asm__ volatile("rdtsc\n\t"
			 "shl $32, %%rdx\n\t"
			 "or %%rdx, %0"
			 : "=a"(ticks)
			 :
			 : "rdx", "cc");
	return ticks;
}

/* Ticks per second; 0: unknown, must be measured. */
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

/* Reads the trap flag. */
static inline bool arch_is_stepped(void)
{
	return __builtin_ia32_readeflags_u64() & 0x100;
}

static inline void arch_pause(void)
{
	__builtin_ia32_pause();
}

#endif
