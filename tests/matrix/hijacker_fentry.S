/*
 * hijacker_fentry.S: __fentry__, which the compiler calls first thing in each
 * function of hijacker.c, and where those functions return to.
 */
	.text
	.globl __fentry__
	.type __fentry__, @function
__fentry__:
	.cfi_startproc
	cmpl $0, hijacker_on(%rip)
	je 1f
	push %rax
	.cfi_adjust_cfa_offset 8
	push %rdi
	.cfi_adjust_cfa_offset 8
	push %rsi
	.cfi_adjust_cfa_offset 8
	push %rdx
	.cfi_adjust_cfa_offset 8
	push %rcx
	.cfi_adjust_cfa_offset 8
	push %r8
	.cfi_adjust_cfa_offset 8
	push %r9
	.cfi_adjust_cfa_offset 8
	lea 64(%rsp), %rdi
	call hijacker_enter
	pop %r9
	.cfi_adjust_cfa_offset -8
	pop %r8
	.cfi_adjust_cfa_offset -8
	pop %rcx
	.cfi_adjust_cfa_offset -8
	pop %rdx
	.cfi_adjust_cfa_offset -8
	pop %rsi
	.cfi_adjust_cfa_offset -8
	pop %rdi
	.cfi_adjust_cfa_offset -8
	pop %rax
	.cfi_adjust_cfa_offset -8
1:	ret
	.cfi_endproc
	.size __fentry__, . - __fentry__

	/* rsp is what the caller had before its call; the word below it is
	 * the slot. Room for the way on, then as if nothing had been. */
	.macro trampoline
	sub $8, %rsp
	push %rax
	push %rdx
	lea 24(%rsp), %rdi
	call hijacker_leave
	mov %rax, 16(%rsp)
	pop %rdx
	pop %rax
	ret
	.endm

	.globl hijacker_return
	.type hijacker_return, @function
	nop
hijacker_return:
	trampoline
	.size hijacker_return, . - hijacker_return

	.globl hijacker_return_cfi
	.type hijacker_return_cfi, @function
	.cfi_startproc
	.cfi_undefined %rip
	nop
hijacker_return_cfi:
	trampoline
	.cfi_endproc
	.size hijacker_return_cfi, . - hijacker_return_cfi
	.section .note.GNU-stack, "", @progbits
