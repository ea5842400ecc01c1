/*
 * hooks_raw.S (x86-64): entries that leave by a tail jump, so that none of our
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
	.text
	.globl	syscall
	.type	syscall, @function
	.p2align 4
syscall:
	.cfi_startproc
	push	%rdi
	.cfi_adjust_cfa_offset 8
	push	%rsi
	.cfi_adjust_cfa_offset 8
	push	%rdx
	.cfi_adjust_cfa_offset 8
	push	%rcx
	.cfi_adjust_cfa_offset 8
	push	%r8
	.cfi_adjust_cfa_offset 8
	push	%r9
	.cfi_adjust_cfa_offset 8
	push	%rax			/* the stack is aligned for a call */
	.cfi_adjust_cfa_offset 8
	call	identity_entry
	mov	%rax, %r11
	pop	%rax
	.cfi_adjust_cfa_offset -8
	pop	%r9
	.cfi_adjust_cfa_offset -8
	pop	%r8
	.cfi_adjust_cfa_offset -8
	pop	%rcx
	.cfi_adjust_cfa_offset -8
	pop	%rdx
	.cfi_adjust_cfa_offset -8
	pop	%rsi
	.cfi_adjust_cfa_offset -8
	pop	%rdi
	.cfi_adjust_cfa_offset -8
	test	%r11, %r11
	jz	1f
	jmp	*%r11
1:	jmp	identity_missing
	.cfi_endproc
	.size	syscall, .-syscall

	.globl	__libc_start_main
	.type	__libc_start_main, @function
	.p2align 4
__libc_start_main:
	.cfi_startproc
	push	%rsi
	.cfi_adjust_cfa_offset 8
	push	%rdx
	.cfi_adjust_cfa_offset 8
	push	%rcx
	.cfi_adjust_cfa_offset 8
	push	%r8
	.cfi_adjust_cfa_offset 8
	push	%r9
	.cfi_adjust_cfa_offset 8
	call	identity_start		/* receives main */
	pop	%r9
	.cfi_adjust_cfa_offset -8
	pop	%r8
	.cfi_adjust_cfa_offset -8
	pop	%rcx
	.cfi_adjust_cfa_offset -8
	pop	%rdx
	.cfi_adjust_cfa_offset -8
	pop	%rsi
	.cfi_adjust_cfa_offset -8
	lea	main_entry(%rip), %rdi
	jmp	*%rax
	.cfi_endproc
	.size	__libc_start_main, .-__libc_start_main

	.type	main_entry, @function
	.p2align 4
main_entry:
	.cfi_startproc
	push	%rdi
	.cfi_adjust_cfa_offset 8
	push	%rsi
	.cfi_adjust_cfa_offset 8
	push	%rdx
	.cfi_adjust_cfa_offset 8
	mov	%rdx, %rdi
	call	environment_hide	/* takes and returns envp */
	add	$8, %rsp
	.cfi_adjust_cfa_offset -8
	pop	%rsi
	.cfi_adjust_cfa_offset -8
	pop	%rdi
	.cfi_adjust_cfa_offset -8
	mov	%rax, %rdx
	mov	identity_main(%rip), %r11
	jmp	*%r11
	.cfi_endproc
	.size	main_entry, .-main_entry
	.section .note.GNU-stack,"",@progbits
