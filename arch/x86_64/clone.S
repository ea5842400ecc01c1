/*
 * clone.S (x86-64):
 * long arch_clone_task(flags, stack_top, tls, fn, arg)
 * The child has no caller: its stack ends here, and the table says so.
 */
	.text
	.globl	arch_clone_task
	.hidden	arch_clone_task
	.type	arch_clone_task, @function
	.p2align 4
arch_clone_task:
	.cfi_startproc
	mov	%rdx, %r9		/* tls */
	mov	%r8, %r11		/* arg, until the system call */
	and	$-16, %rsi
	sub	$16, %rsi
	mov	%rcx, 0(%rsi)		/* fn, on the child's stack */
	mov	%r11, 8(%rsi)		/* arg */
	xor	%edx, %edx		/* parent_tid */
	xor	%r10d, %r10d		/* child_tid */
	mov	%r9, %r8
	mov	$56, %eax		/* SYS_clone */
	syscall
	test	%rax, %rax
	jz	1f
	ret
1:	.cfi_undefined rip
	xor	%ebp, %ebp
	pop	%rax
	pop	%rdi
	call	*%rax
	ud2
	.cfi_endproc
	.size	arch_clone_task, .-arch_clone_task
	.section .note.GNU-stack,"",@progbits
