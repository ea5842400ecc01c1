/*
 * hooks_raw.S (AArch64): entries that leave by a tail jump, so that none of our
 * frames lies between the program's. All of them are valid jump targets, and
 * jump on through x16, which landing pads of functions allow (BTI).
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

	/* Saves the caller's frame record, and the argument registers below. */
	.macro	save
	hint	#34			/* bti c */
	stp	x29, x30, [sp, #-16]!
	.cfi_adjust_cfa_offset 16
	.cfi_rel_offset x29, 0
	.cfi_rel_offset x30, 8
	mov	x29, sp
	stp	x0, x1, [sp, #-64]!
	.cfi_adjust_cfa_offset 64
	stp	x2, x3, [sp, #16]
	stp	x4, x5, [sp, #32]
	stp	x6, x7, [sp, #48]
	.endm

	.macro	restore
	ldp	x6, x7, [sp, #48]
	ldp	x4, x5, [sp, #32]
	ldp	x2, x3, [sp, #16]
	ldp	x0, x1, [sp], #64
	.cfi_adjust_cfa_offset -64
	ldp	x29, x30, [sp], #16
	.cfi_adjust_cfa_offset -16
	.cfi_restore x29
	.cfi_restore x30
	.endm

	.text
	.globl	syscall
	.type	syscall, %function
	.p2align 4
syscall:
	.cfi_startproc
	save
	bl	identity_entry
	mov	x16, x0
	restore
	cbz	x16, 1f
	br	x16
1:	b	identity_missing
	.cfi_endproc
	.size	syscall, .-syscall

	.globl	__libc_start_main
	.type	__libc_start_main, %function
	.p2align 4
__libc_start_main:
	.cfi_startproc
	save
	bl	identity_start		/* receives main */
	mov	x16, x0
	restore
	adr	x0, main_entry
	br	x16
	.cfi_endproc
	.size	__libc_start_main, .-__libc_start_main

	.type	main_entry, %function
	.p2align 4
main_entry:
	.cfi_startproc
	save
	mov	x0, x2
	bl	environment_hide	/* takes and returns envp */
	mov	x16, x0
	restore
	mov	x2, x16
	adrp	x16, identity_main
	ldr	x16, [x16, #:lo12:identity_main]
	br	x16
	.cfi_endproc
	.size	main_entry, .-main_entry
	.section .note.GNU-stack,"",%progbits
