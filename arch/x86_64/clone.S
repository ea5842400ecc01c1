/*
 * clone.S (x86-64):
 * long arch_clone_task(flags, stack_top, tls, fn, arg)
 * The child has no caller: its stack ends here, and the unwind table says so.
 *
 * Valgrind ends a program that clones a task with unknown flags, so we first
 * ask whether Valgrind runs us (the client request RUNNING_ON_VALGRIND of its
 * published interface, valgrind.h: on a real processor the sequence does
 * nothing); if so, the result is -EPERM.
 */
#define SYS_CLONE 56
#define REFUSED -1			/* -EPERM */
#define RUNNING_ON_VALGRIND 0x1001
#define REQUEST_SIZE 56			/* six words, and rsp stays aligned */

	.text
	.globl	arch_clone_task
	.hidden	arch_clone_task
	.type	arch_clone_task, @function
	.p2align 4
arch_clone_task:
	.cfi_startproc
	mov	%rdx, %r9		/* tls */
	sub	$REQUEST_SIZE, %rsp
	.cfi_adjust_cfa_offset REQUEST_SIZE
	movq	$RUNNING_ON_VALGRIND, 0(%rsp)
	movq	$0, 8(%rsp)
	movq	$0, 16(%rsp)
	movq	$0, 24(%rsp)
	movq	$0, 32(%rsp)
	movq	$0, 40(%rsp)
	mov	%rsp, %rax
	xor	%edx, %edx		/* the result without Valgrind */
	rolq	$3, %rdi
	rolq	$13, %rdi
	rolq	$61, %rdi
	rolq	$51, %rdi
	xchgq	%rbx, %rbx
	add	$REQUEST_SIZE, %rsp
	.cfi_adjust_cfa_offset -REQUEST_SIZE
	test	%rdx, %rdx
	jnz	1f
	mov	%r8, %r11		/* arg, until the system call */
	and	$-16, %rsi
	sub	$16, %rsi
	mov	%rcx, 0(%rsi)		/* fn, on the child's stack */
	mov	%r11, 8(%rsi)		/* arg */
	xor	%edx, %edx		/* parent_tid */
	xor	%r10d, %r10d		/* child_tid */
	mov	%r9, %r8
	mov	$SYS_CLONE, %eax
	syscall
	test	%rax, %rax
	jz	2f
	ret
1:	mov	$REFUSED, %rax
	ret
2:	.cfi_undefined rip
	xor	%ebp, %ebp
	pop	%rax
	pop	%rdi
	call	*%rax
	ud2
	.cfi_endproc
	.size	arch_clone_task, .-arch_clone_task
	.section .note.GNU-stack,"",@progbits
