/*
 * entry.h (ARM): how hooks find their caller. A call leaves the return address
 * in a register, and compilers store it anywhere in a function's frame. So each
 * hook has an entry in assembler, which makes a record at a fixed position
 * (ARCH_HOOK_*) and calls the hook's C function:
 *
 *	caller's sp ─▶ ┌────────────────────────────────────┐ higher addresses
 *	          - 4  │ return address, with the Thumb bit │
 *	          - 8  │ return address, as a plain address │
 *	         - 12  │ frame pointer of the caller        │
 *	               │ room for arguments                 │
 *	our sp ──────▶ └────────────────────────────────────┘ where the C function
 *	                                                      is entered
 *
 * Four words of arguments are in registers; if a hook has more, the next four
 * are copied to where the C function expects them.
 */
#ifndef GNOMON_ARCH_ENTRY_H
#define GNOMON_ARCH_ENTRY_H

#include "regs.h"

#ifdef __ASSEMBLER__

	/* The entry `name`, also under a hidden name. more: some arguments may
	 * be on the stack. */
	.macro	entry name, alias, more=0
	.syntax	unified
	.thumb
	.globl	\name
	.type	\name, %function
	.p2align 2
	.thumb_func
\name:
	.ifnb	\alias
	.globl	\alias
	.hidden	\alias
	.type	\alias, %function
	.thumb_set \alias, \name
	.endif
	.fnstart
	bic	ip, lr, #1
	push	{r7, ip, lr}
	.save	{r7, ip, lr}
	sub	sp, sp, #ARCH_ENTRY_ROOM
	.pad	#ARCH_ENTRY_ROOM
	.if	\more
	.irp	at, 0, 4, 8, 12
	ldr	ip, [sp, #ARCH_RECORD_BYTES + ARCH_ENTRY_ROOM + \at]
	str	ip, [sp, #\at]
	.endr
	.endif
	bl	entered_\name
	add	sp, sp, #ARCH_ENTRY_ROOM
	pop	{r7, ip, pc}
	.fnend
	.size	\name, .-\name
	.endm

#else

/* Only in the hook itself, not in a function that it calls. */
#define ARCH_CALLER_RECORD                                           \
	((const uintptr_t *)((uintptr_t)__builtin_dwarf_cfa() +      \
			     ARCH_ENTRY_ROOM))
#define ARCH_CALLER_RA (ARCH_CALLER_RECORD[1])
#define ARCH_CALLER_SP ((uintptr_t)ARCH_CALLER_RECORD + ARCH_RECORD_BYTES)
#define ARCH_CALLER_FP (ARCH_CALLER_RECORD[0])

/* For the declaration of a hook, and of its hidden alias. */
#define ARCH_ENTRY(name) __asm__("entered_" #name)
#define ARCH_ENTRY_ALIAS(name)

#endif
#endif
