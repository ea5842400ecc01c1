/*
 * entry.h (AArch64): how the functions that the program enters know who called
 * them. A call leaves the return address in a register, and compilers put it
 * anywhere into a function's frame. So each has an entry before it, which makes
 * a frame record of a fixed place (ARCH_HOOK_*) and calls the function proper:
 *
 *	sp - 16    frame pointer of the caller    ◀─ x29, as the function
 *	sp - 8     return address                    proper is entered
 *
 * Arguments are in registers, eight at most. What the function proper jumps on
 * to, at its end, returns through the entry, and finds the record there still.
 */
#ifndef GNOMON_ARCH_ENTRY_H
#define GNOMON_ARCH_ENTRY_H

#ifdef __ASSEMBLER__

	/* The entry `name`, also by a hidden name; it may be jumped to (BTI). */
	.macro	entry name, alias, more
	.globl	\name
	.type	\name, %function
	.p2align 4
\name:
	.ifnb	\alias
	.globl	\alias
	.hidden	\alias
	.type	\alias, %function
\alias:
	.endif
	.cfi_startproc
	hint	#34			/* bti c */
	stp	x29, x30, [sp, #-16]!
	.cfi_adjust_cfa_offset 16
	.cfi_rel_offset x29, 0
	.cfi_rel_offset x30, 8
	mov	x29, sp
	bl	entered_\name
	ldp	x29, x30, [sp], #16
	.cfi_adjust_cfa_offset -16
	.cfi_restore x29
	.cfi_restore x30
	ret
	.cfi_endproc
	.size	\name, .-\name
	.endm

#else

/* In the function itself, not in one that it calls. */
#define ARCH_CALLER_RECORD \
	(*(const uintptr_t *const *)__builtin_frame_address(0))
#define ARCH_CALLER_RA (ARCH_CALLER_RECORD[1])
#define ARCH_CALLER_SP ((uintptr_t)(ARCH_CALLER_RECORD + 2))
#define ARCH_CALLER_FP (ARCH_CALLER_RECORD[0])

/* In the declaration of such a function, and in that of a hidden alias. */
#define ARCH_ENTRY(name) __asm__("entered_" #name)
#define ARCH_ENTRY_ALIAS(name)

#endif
#endif
