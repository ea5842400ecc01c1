/*
 * clone.S (AArch64):
 * long arch_clone_task(flags, stack_top, tls, fn, arg)
 * The child has no caller: its stack ends here, and the unwind table says so.
 *
 * Valgrind ends a program that clones a task with unknown flags, so we first
 * ask whether Valgrind runs us (the client request RUNNING_ON_VALGRIND of its
 * published interface, valgrind.h: on a real processor the sequence does
 * nothing); if so, the result is -EPERM.
 */
#define SYS_CLONE 220
#define REFUSED -1			/* -EPERM */
#define RUNNING_ON_VALGRIND 0x1001
#define REQUEST_SIZE 48			/* six words */

	.text
	.globl	arch_clone_task
	.hidden	arch_clone_task
	.type	arch_clone_task, %function
	.p2align 4
arch_clone_task:
	.cfi_startproc
	hint	#34			/* bti c */
	mov	x9, x3			/* fn and arg */
	mov	x10, x4
	mov	x11, #RUNNING_ON_VALGRIND
	sub	sp, sp, #REQUEST_SIZE
	.cfi_adjust_cfa_offset REQUEST_SIZE
	stp	x11, xzr, [sp]
	stp	xzr, xzr, [sp, #16]
	stp	xzr, xzr, [sp, #32]
	mov	x3, xzr			/* the result without Valgrind */
	mov	x4, sp
	ror	x12, x12, #3
	ror	x12, x12, #13
	ror	x12, x12, #51
	ror	x12, x12, #61
	orr	x10, x10, x10
	add	sp, sp, #REQUEST_SIZE
	.cfi_adjust_cfa_offset -REQUEST_SIZE
	cbnz	x3, 2f
	and	x1, x1, #-16
	stp	x9, x10, [x1, #-16]!	/* fn and arg, on the child's stack */
	mov	x3, x2			/* tls */
	mov	x2, xzr			/* parent_tid */
	mov	x4, xzr			/* child_tid */
	mov	x8, #SYS_CLONE
	svc	#0
	cbz	x0, 1f
	ret
2:	mov	x0, #REFUSED
	ret
1:	.cfi_undefined x30
	mov	x29, xzr
	mov	x30, xzr
	ldp	x1, x0, [sp], #16
	blr	x1
	brk	#0
	.cfi_endproc
	.size	arch_clone_task, .-arch_clone_task
	.section .note.GNU-stack,"",%progbits
