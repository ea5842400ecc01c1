/*
 * hooks_raw.S (MIPS64): entries that leave by a tail jump, so that none of our
 * frames lies between the program's. They jump on through $25, as functions
 * expect.
 *
 * syscall() as the program calls it. Most calls continue to the C library by a
 * tail jump, with arguments and stack unchanged: some return twice, or on
 * another stack. identity_entry (preload/interpose/identity.h) gets syscall's
 * first three arguments in place and returns the jump target.
 *
 * __libc_start_main and main: between the two the C library sets up the
 * program's environment; main starts with the one that environment_hide
 * returns.
 */
#include "entry.h"

	/* Saves the caller's frame record, the GOT pointer, and the argument
	 * registers below. */
	.macro	save name
	table	\name
	daddiu	$29, $29, -96
	.cfi_adjust_cfa_offset 96
	sd	$31, 88($29)
	.cfi_rel_offset $31, 88
	sd	$30, 80($29)
	.cfi_rel_offset $30, 80
	sd	$1, 64($29)
	sd	$4, 0($29)
	sd	$5, 8($29)
	sd	$6, 16($29)
	sd	$7, 24($29)
	sd	$8, 32($29)
	sd	$9, 40($29)
	sd	$10, 48($29)
	sd	$11, 56($29)
	.endm

	.macro	restore
	ld	$1, 64($29)
	ld	$4, 0($29)
	ld	$5, 8($29)
	ld	$6, 16($29)
	ld	$7, 24($29)
	ld	$8, 32($29)
	ld	$9, 40($29)
	ld	$10, 48($29)
	ld	$11, 56($29)
	ld	$30, 80($29)
	ld	$31, 88($29)
	daddiu	$29, $29, 96
	.cfi_restore $30
	.cfi_restore $31
	.cfi_adjust_cfa_offset -96
	.endm

	.text
	.globl	syscall
	.type	syscall, @function
	.p2align 4
syscall:
	.cfi_startproc
	save	syscall
	function identity_entry
	jalr	$25
	nop
	restore
	beqz	$2, 1f
	move	$25, $2
	jr	$25
	nop
1:	function identity_missing
	jr	$25
	nop
	.cfi_endproc
	.size	syscall, .-syscall

	.globl	__libc_start_main
	.type	__libc_start_main, @function
	.p2align 4
__libc_start_main:
	.cfi_startproc
	save	__libc_start_main
	function identity_start		/* receives main */
	jalr	$25
	nop
	restore
	ld	$4, %got_disp(main_entry)($1)
	move	$25, $2
	jr	$25
	nop
	.cfi_endproc
	.size	__libc_start_main, .-__libc_start_main

	.type	main_entry, @function
	.p2align 4
main_entry:
	.cfi_startproc
	save	main_entry
	function environment_hide
	jalr	$25
	move	$4, $6			/* takes and returns envp */
	restore
	function identity_main
	ld	$25, 0($25)
	jr	$25
	move	$6, $2
	.cfi_endproc
	.size	main_entry, .-main_entry
	.section .note.GNU-stack,"",%progbits
