/*
 * signal_frame.h (x86-64): converts a ucontext_t to registers by DWARF numbers,
 * as the kernel passes it to signal handlers and getcontext fills it;
 * recognises the code by which handlers return.
 */
#ifndef GNOMON_ARCH_SIGNAL_FRAME_H
#define GNOMON_ARCH_SIGNAL_FRAME_H

#include <stdbool.h>
#include <stdint.h>

#include "regs.h"

/*
 * Where uc_mcontext.gregs begins, and the order in it: struct sigcontext_64 of
 * the kernel (asm/sigcontext.h), r8 … r15, rdi, rsi, rbp, rbx, rdx, rax, rcx,
 * rsp, rip. The C libraries' headers name these differently.
 */
#define ARCH_UCONTEXT_GREGS 40

/* The offset of struct ucontext in a signal frame, from the sp after the
 * handler has returned to this code. */
static inline unsigned arch_sigframe_ucontext(uintptr_t code)
{
	(void)code;
	return 0;
}

/* Only reads memory. Async-signal-safe. */
static inline void arch_regs_from_ucontext(struct arch_regs *regs,
					   const void *ucontext)
{
	static const uint8_t order[ARCH_REG_COUNT] = {
		ARCH_REG_R8, ARCH_REG_R9, ARCH_REG_R10, ARCH_REG_R11,
		ARCH_REG_R12, ARCH_REG_R13, ARCH_REG_R14, ARCH_REG_R15,
		ARCH_REG_RDI, ARCH_REG_RSI, ARCH_REG_RBP, ARCH_REG_RBX,
		ARCH_REG_RDX, ARCH_REG_RAX, ARCH_REG_RCX, ARCH_REG_RSP,
		ARCH_REG_RA
	};
	const uint64_t *gregs = (const uint64_t *)((const char *)ucontext +
						   ARCH_UCONTEXT_GREGS);
	unsigned i;

	for (i = 0; i < ARCH_REG_COUNT; i++)
		regs->r[order[i]] = gregs[i];
}

/* How many bytes of code arch_is_signal_return reads to recognise the code that
 * a signal handler returns to. 0: that is code of the C library, which an unwind
 * table marks. */
#define ARCH_SIGNAL_CODE 0

static inline bool arch_is_signal_return(uintptr_t code)
{
	(void)code;
	return false;
}

_Static_assert(ARCH_SIGFRAME_FP == ARCH_UCONTEXT_GREGS + 10 * 8 &&
	       ARCH_SIGFRAME_SP == ARCH_UCONTEXT_GREGS + 15 * 8 &&
	       ARCH_SIGFRAME_PC == ARCH_UCONTEXT_GREGS + 16 * 8,
	       "regs.h and this file agree about the frame");

#endif
