/*
 * entry.h (ARM): how the functions that the program enters know who called
 * them. A call leaves the return address in a register, and compilers put it
 * anywhere into a function's frame. So each has an entry before it, which makes
 * a record of a fixed place (ARCH_HOOK_*) and calls the function proper:
 *
 *	sp - 12    frame pointer of the caller
 *	sp - 8     where it goes on
 *	sp - 4     return address, as it came
 *	           room for arguments        ◀─ sp, as the function proper is
 *	                                        entered
 *
 * Four words of arguments are in registers; of those that have more, the next
 * four are copied to where the function proper looks for them.
 */
#ifndef GNOMON_ARCH_ENTRY_H
#define GNOMON_ARCH_ENTRY_H

#include "regs.h"

#ifdef __ASSEMBLER__

	/* The entry `name`, also by a hidden name. more: not all arguments need
	 * be in registers. */
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

/* In the function itself, not in one that it calls. */
#define ARCH_CALLER_RECORD                                           \
	((const uintptr_t *)((uintptr_t)__builtin_dwarf_cfa() +      \
			     ARCH_ENTRY_ROOM))
#define ARCH_CALLER_RA (ARCH_CALLER_RECORD[1])
#define ARCH_CALLER_SP ((uintptr_t)ARCH_CALLER_RECORD + ARCH_RECORD_BYTES)
#define ARCH_CALLER_FP (ARCH_CALLER_RECORD[0])

/* In the declaration of such a function, and in that of a hidden alias. */
#define ARCH_ENTRY(name) __asm__("entered_" #name)
#define ARCH_ENTRY_ALIAS(name)

#endif
#endif
