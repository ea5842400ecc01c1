/*
 * entry.h (MIPS64): how hooks find their caller. A call leaves the return
 * address in a register, and compilers store it anywhere in a function's frame.
 * So each hook has an entry in assembler, which makes a frame record at a fixed
 * position (ARCH_HOOK_*) and calls the hook's C function:
 *
 *	sp - 16    frame pointer of the caller    ◀─ sp, when the C function
 *	sp - 8     return address                    is entered
 *
 * Arguments are in registers, eight at most. A function that the C function
 * tail-calls returns through the entry too, and still finds the record.
 *
 * Here and in stubs.S and hooks_raw.S position-independent code is written by
 * hand: a function is called through $25, from which it computes its image's
 * GOT pointer. The compiler's register for the GOT pointer (gp, $28) belongs to
 * the caller; entries leave it unchanged and use $1 for their own.
 */
#ifndef GNOMON_ARCH_ENTRY_H
#define GNOMON_ARCH_ENTRY_H

#ifdef __ASSEMBLER__

	.set	noreorder
	.set	noat

	/* $1: the GOT pointer, in a function that was reached through $25. */
	.macro	table name
	lui	$1, %hi(%neg(%gp_rel(\name)))
	daddu	$1, $1, $25
	daddiu	$1, $1, %lo(%neg(%gp_rel(\name)))
	.endm

	/* $25: one of our functions, or any address, by the GOT pointer in
	 * $1. */
	.macro	function name
	ld	$25, %got_disp(\name)($1)
	.endm

	/* The entry `name`, also under a hidden name. */
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

/* Only in the hook itself, not in a function that it calls. */
#define ARCH_CALLER_RECORD ((const uintptr_t *)__builtin_dwarf_cfa())
#define ARCH_CALLER_RA (ARCH_CALLER_RECORD[1])
#define ARCH_CALLER_SP ((uintptr_t)(ARCH_CALLER_RECORD + 2))
#define ARCH_CALLER_FP (ARCH_CALLER_RECORD[0])

/* For the declaration of a hook, and of its hidden alias. */
#define ARCH_ENTRY(name) __asm__("entered_" #name)
#define ARCH_ENTRY_ALIAS(name)

#endif
#endif
