/*
 * hooks_raw.S (x86-64): syscall() as the program enters it. Most calls go on to the
 * C library by a tail jump, arguments and stack as they came: some return
 * twice, or on another stack. life_entry (preload/life.h) says what to jump to.
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
	call	life_entry
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
1:	jmp	life_missing
	.cfi_endproc
	.size	syscall, .-syscall
	.section .note.GNU-stack,"",@progbits
