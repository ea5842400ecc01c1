/*
 * signal_frame.h (ARM): converts a ucontext_t to registers by DWARF numbers, as
 * the kernel passes it to signal handlers and getcontext fills it; recognises
 * the code by which handlers return.
 */
#ifndef GNOMON_ARCH_SIGNAL_FRAME_H
#define GNOMON_ARCH_SIGNAL_FRAME_H

#include <stdbool.h>
#include <stdint.h>

#include "calls.h"
#include "regs.h"

/*
 * Where the registers of uc_mcontext begin: r0 … r15 (asm/sigcontext.h), behind
 * three words of a fault. The order is that of the DWARF numbers.
 */
#define ARCH_UCONTEXT_REGS 32

/* Only reads memory. Async-signal-safe. */
static inline void arch_regs_from_ucontext(struct arch_regs *regs,
					   const void *ucontext)
{
	const uint32_t *from = (const uint32_t *)((const char *)ucontext +
						  ARCH_UCONTEXT_REGS);
	unsigned i;

	for (i = 0; i < ARCH_REG_COUNT; i++)
		regs->r[i] = from[i];
}

/*
 * Signal handlers return to code of the kernel, the C library or an emulator,
 * which loads the system call's number and makes the call. The C libraries'
 * code has an unwind table, but that does not mark the caller as interrupted.
 */
#define ARCH_SIGNAL_CODE 8	/* bytes that are read to recognise it */

enum {
	ARCH_SIGRETURN = 119,		/* without a siginfo */
	ARCH_RT_SIGRETURN = 173
};

/* ARCH_SIGNAL_CODE bytes at `code` must be readable. */
static inline bool arch_is_signal_return(uintptr_t code)
{
	unsigned call = arch_code_call(arch_return_address(code));

	return call == ARCH_SIGRETURN || call == ARCH_RT_SIGRETURN;
}

/* The offset of struct ucontext in a signal frame, from the sp after the
 * handler has returned to this code: behind the siginfo, if there is one. */
#define ARCH_SIGFRAME_SIGINFO 128

static inline unsigned arch_sigframe_ucontext(uintptr_t code)
{
	return arch_code_call(arch_return_address(code)) == ARCH_SIGRETURN ?
		       0 : ARCH_SIGFRAME_SIGINFO;
}

_Static_assert(ARCH_SIGFRAME_FP == ARCH_SIGFRAME_SIGINFO +
				   ARCH_UCONTEXT_REGS + ARCH_REG_FP * 4 &&
	       ARCH_SIGFRAME_SP == ARCH_SIGFRAME_FP + 24 &&
	       ARCH_SIGFRAME_PC == ARCH_SIGFRAME_FP + 32,
	       "regs.h and this file agree about the frame");

#endif
