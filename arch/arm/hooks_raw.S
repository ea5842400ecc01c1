/*
 * hooks_raw.S (ARM): entries that leave by a tail jump, so that none of our
 * frames lies between the program's.
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

	.syntax	unified
	.arm

	/* Saves the argument registers and the return address. */
	.macro	save
	push	{r0, r1, r2, r3, ip, lr}
	.save	{r0, r1, r2, r3, ip, lr}
	.endm

	.macro	restore
	pop	{r0, r1, r2, r3, ip, lr}
	.endm

	.text
	.globl	syscall
	.type	syscall, %function
	.p2align 2
syscall:
	.fnstart
	save
	bl	identity_entry
	str	r0, [sp, #16]		/* to ip */
	restore
	cmp	ip, #0
	bxne	ip
	b	identity_missing
	.fnend
	.size	syscall, .-syscall

	.globl	__libc_start_main
	.type	__libc_start_main, %function
	.p2align 2
__libc_start_main:
	.fnstart
	save
	bl	identity_start		/* receives main */
	str	r0, [sp, #16]
	restore
	adr	r0, main_entry
	bx	ip
	.fnend
	.size	__libc_start_main, .-__libc_start_main

	.type	main_entry, %function
	.p2align 2
main_entry:
	.fnstart
	save
	mov	r0, r2
	bl	environment_hide	/* takes and returns envp */
	str	r0, [sp, #8]
	restore
	ldr	ip, 2f
1:	ldr	ip, [pc, ip]
	bx	ip
2:	.word	identity_main - (1b + 8)
	.fnend
	.size	main_entry, .-main_entry
	.section .note.GNU-stack,"",%progbits
