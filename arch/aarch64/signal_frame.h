/*
 * signal_frame.h (AArch64): converts a ucontext_t to registers by DWARF
 * numbers, as the kernel passes it to signal handlers and getcontext fills it;
 * recognises the code by which handlers return.
 */
#ifndef GNOMON_ARCH_SIGNAL_FRAME_H
#define GNOMON_ARCH_SIGNAL_FRAME_H

#include <stdbool.h>
#include <stdint.h>

#include "regs.h"

/*
 * Where uc_mcontext.regs begins: x0 … x30, sp, pc (asm/sigcontext.h: struct
 * sigcontext is aligned to 16 bytes, and begins with a fault's address). The
 * order is that of the DWARF numbers.
 */
#define ARCH_UCONTEXT_REGS 184

/* Where struct ucontext lies in a signal frame, behind siginfo. */
#define ARCH_SIGFRAME_UCONTEXT 128

/* The same, from the sp after the handler has returned to this code. */
static inline unsigned arch_sigframe_ucontext(uintptr_t code)
{
	(void)code;
	return ARCH_SIGFRAME_UCONTEXT;
}


/* Only reads memory. Async-signal-safe. */
static inline void arch_regs_from_ucontext(struct arch_regs *regs,
					   const void *ucontext)
{
	const uint64_t *from = (const uint64_t *)((const char *)ucontext +
						  ARCH_UCONTEXT_REGS);
	unsigned i;

	for (i = 0; i < ARCH_REG_COUNT; i++)
		regs->r[i] = from[i];
}

/*
 * Whether a signal handler returns to `code`. The kernel's code has had no
 * unwind table since Linux 5.8, an emulator's never: like the C++ runtimes,
 * walks recognise it by its two instructions, mov x8, #139 and svc #0.
 * ARCH_SIGNAL_CODE bytes at `code` must be readable.
 */
#define ARCH_SIGNAL_CODE 8

static inline bool arch_is_signal_return(uintptr_t code)
{
	const uint32_t *word = (const uint32_t *)code;

	return word[0] == 0xd2801168 && word[1] == 0xd4000001;
}

_Static_assert(ARCH_SIGFRAME_FP == ARCH_SIGFRAME_UCONTEXT +
				   ARCH_UCONTEXT_REGS + ARCH_REG_FP * 8 &&
	       ARCH_SIGFRAME_SP == ARCH_SIGFRAME_FP + 16 &&
	       ARCH_SIGFRAME_PC == ARCH_SIGFRAME_FP + 24,
	       "regs.h and this file agree about the frame");

#endif
