/*
 * entry.h (MIPS64): how the functions that the program enters know who called
 * them. A call leaves the return address in a register, and compilers put it
 * anywhere into a function's frame. So each has an entry before it, which makes
 * a frame record of a fixed place (ARCH_HOOK_*) and calls the function proper:
 *
 *	sp - 16    frame pointer of the caller    ◀─ sp, as the function
 *	sp - 8     return address                    proper is entered
 *
 * Arguments are in registers, eight at most. What the function proper jumps on
 * to, at its end, returns through the entry, and finds the record there still.
 *
 * Position-independent code by hand, here and in stubs.S and hooks_raw.S: a
 * function is called by $25, from which it finds the image's table of addresses.
 * What the compiler keeps the table's place in (gp, $28) belongs to the caller as
 * well; entries leave it as it came, and use $1 for theirs.
 */
#ifndef GNOMON_ARCH_ENTRY_H
#define GNOMON_ARCH_ENTRY_H

#ifdef __ASSEMBLER__

	.set	noreorder
	.set	noat

	/* $1: the table's place, of a function that $25 was jumped to by. */
	.macro	table name
	lui	$1, %hi(%neg(%gp_rel(\name)))
	daddu	$1, $1, $25
	daddiu	$1, $1, %lo(%neg(%gp_rel(\name)))
	.endm

	/* $25: a function of ours, or any address, by the table in $1. */
	.macro	function name
	ld	$25, %got_disp(\name)($1)
	.endm

	/* The entry `name`, also by a hidden name. */
	.macro	entry name, alias, more
	.globl	\name
	.type	\name, @function
	.p2align 4
\name:
	.ifnb	\alias
	.globl	\alias
	.hidden	\alias
	.type	\alias, @function
\alias:
	.endif
	.cfi_startproc
	table	\name
	function entered_\name
	daddiu	$29, $29, -16
	.cfi_adjust_cfa_offset 16
	sd	$31, 8($29)
	.cfi_rel_offset $31, 8
	sd	$30, 0($29)
	.cfi_rel_offset $30, 0
	jalr	$25
	move	$30, $29
	ld	$31, 8($29)
	ld	$30, 0($29)
	.cfi_restore $31
	.cfi_restore $30
	jr	$31
	daddiu	$29, $29, 16
	.cfi_adjust_cfa_offset -16
	.cfi_endproc
	.size	\name, .-\name
	.endm

#else

/* In the function itself, not in one that it calls. */
#define ARCH_CALLER_RECORD ((const uintptr_t *)__builtin_dwarf_cfa())
#define ARCH_CALLER_RA (ARCH_CALLER_RECORD[1])
#define ARCH_CALLER_SP ((uintptr_t)(ARCH_CALLER_RECORD + 2))
#define ARCH_CALLER_FP (ARCH_CALLER_RECORD[0])

/* In the declaration of such a function, and in that of a hidden alias. */
#define ARCH_ENTRY(name) __asm__("entered_" #name)
#define ARCH_ENTRY_ALIAS(name)

#endif
#endif
