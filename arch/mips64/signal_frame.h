/*
 * signal_frame.h (MIPS64): converts a ucontext_t to registers by DWARF numbers,
 * as the kernel passes it to signal handlers and getcontext fills it;
 * recognises the code by which handlers return.
 */
#ifndef GNOMON_ARCH_SIGNAL_FRAME_H
#define GNOMON_ARCH_SIGNAL_FRAME_H

#include <stdbool.h>
#include <stdint.h>

#include "regs.h"

/* Where uc_mcontext begins: $0 … $31, the vector registers, other registers,
 * and pc (asm/sigcontext.h: struct sigcontext of 64 bits). */
#define ARCH_UCONTEXT_REGS 40
#define ARCH_UCONTEXT_PC (ARCH_UCONTEXT_REGS + 576)

/* Where struct ucontext lies in a signal frame, behind siginfo. */
#define ARCH_SIGFRAME_UCONTEXT 152

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
	const char *from = ucontext;
	unsigned i;

	for (i = 0; i < ARCH_REG_PC; i++)
		regs->r[i] = ((const uint64_t *)(from +
						 ARCH_UCONTEXT_REGS))[i];
	regs->r[ARCH_REG_PC] = *(const uint64_t *)(from + ARCH_UCONTEXT_PC);
}

/*
 * Whether a signal handler returns to `code`. The kernel's code has no mapped
 * unwind table: like the C++ runtimes, walks recognise it by its two
 * instructions, li $2, 5211 and syscall. ARCH_SIGNAL_CODE bytes at `code` must
 * be readable.
 */
#define ARCH_SIGNAL_CODE 8

static inline bool arch_is_signal_return(uintptr_t code)
{
	const uint32_t *word = (const uint32_t *)code;

	return word[0] == 0x2402145b && word[1] == 0x0000000c;
}

_Static_assert(ARCH_SIGFRAME_FP == ARCH_SIGFRAME_UCONTEXT +
				   ARCH_UCONTEXT_REGS + ARCH_REG_FP * 8 &&
	       ARCH_SIGFRAME_SP == ARCH_SIGFRAME_FP - 8 &&
	       ARCH_SIGFRAME_PC == ARCH_SIGFRAME_UCONTEXT + ARCH_UCONTEXT_PC,
	       "regs.h and this file agree about the frame");

#endif
