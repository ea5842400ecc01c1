/*
 * entry.h (AArch64): how hooks find their caller. A call leaves the return
 * address in a register, and compilers store it anywhere in a function's frame.
 * So each hook has an entry in assembler, which makes a frame record at a fixed
 * position (ARCH_HOOK_*) and calls the hook's C function:
 *
 *	sp - 16    frame pointer of the caller    ◀─ x29, when the C function
 *	sp - 8     return address                    is entered
 *
 * Arguments are in registers, eight at most. A function that the C function
 * tail-calls returns through the entry too, and still finds the record.
 */
#ifndef GNOMON_ARCH_ENTRY_H
#define GNOMON_ARCH_ENTRY_H

#ifdef __ASSEMBLER__

	/* The entry `name`, also under a hidden name; a valid target of jumps
	 * (BTI). */
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

/* Only in the hook itself, not in a function that it calls. */
#define ARCH_CALLER_RECORD \
	(*(const uintptr_t *const *)__builtin_frame_address(0))
#define ARCH_CALLER_RA (ARCH_CALLER_RECORD[1])
#define ARCH_CALLER_SP ((uintptr_t)(ARCH_CALLER_RECORD + 2))
#define ARCH_CALLER_FP (ARCH_CALLER_RECORD[0])

/* For the declaration of a hook, and of its hidden alias. */
#define ARCH_ENTRY(name) __asm__("entered_" #name)
#define ARCH_ENTRY_ALIAS(name)

#endif
#endif
