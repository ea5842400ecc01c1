/*
 * stubs.S (x86-64): entries that are left by a tail jump, with every argument
 * register and the whole stack as the caller made them: dlopen finds plugins
 * by its caller's identity, so no frame of ours may lie between.
 *
 * Each counts capture_generation up first: the loader's list is about to
 * change. Flags and r11 are free at a call.
 */
	.macro	entry name, target
	.globl	\name
	.type	\name, @function
	.p2align 4
\name:
	.cfi_startproc
	lock incl capture_generation(%rip)
	mov	\target(%rip), %r11
	test	%r11, %r11
	jz	1f
	jmp	*%r11
	/* called before any allocation: look it up, keeping the arguments
	 * (no vector register holds one) */
1:	push	%rdi
	.cfi_adjust_cfa_offset 8
	push	%rsi
	.cfi_adjust_cfa_offset 8
	push	%rdx
	.cfi_adjust_cfa_offset 8
	call	real_resolve
	pop	%rdx
	.cfi_adjust_cfa_offset -8
	pop	%rsi
	.cfi_adjust_cfa_offset -8
	pop	%rdi
	.cfi_adjust_cfa_offset -8
	mov	\target(%rip), %r11
	test	%r11, %r11
	jz	2f
	jmp	*%r11
	/* no such function behind us: "not found" */
2:	xor	%eax, %eax
	ret
	.cfi_endproc
	.size	\name, .-\name
	.endm

	.text
	entry	dlopen, real_dlopen
	entry	dlmopen, real_dlmopen
	entry	dlclose, real_dlclose
	.section .note.GNU-stack,"",@progbits
