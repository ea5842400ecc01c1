/*
 * capture.S (x86-64): void arch_capture_regs(struct arch_regs *regs)
 * Stores the registers as they are after this function has returned.
 */
	.text
	.globl	arch_capture_regs
	.hidden	arch_capture_regs
	.type	arch_capture_regs, @function
	.p2align 4
arch_capture_regs:
	.cfi_startproc
	mov	%rax, 0(%rdi)
	mov	%rdx, 8(%rdi)
	mov	%rcx, 16(%rdi)
	mov	%rbx, 24(%rdi)
	mov	%rsi, 32(%rdi)
	mov	%rdi, 40(%rdi)
	mov	%rbp, 48(%rdi)
	lea	8(%rsp), %rax
	mov	%rax, 56(%rdi)
	mov	%r8, 64(%rdi)
	mov	%r9, 72(%rdi)
	mov	%r10, 80(%rdi)
	mov	%r11, 88(%rdi)
	mov	%r12, 96(%rdi)
	mov	%r13, 104(%rdi)
	mov	%r14, 112(%rdi)
	mov	%r15, 120(%rdi)
	mov	(%rsp), %rax
	mov	%rax, 128(%rdi)
	ret
	.cfi_endproc
	.size	arch_capture_regs, .-arch_capture_regs
	.section .note.GNU-stack,"",@progbits
