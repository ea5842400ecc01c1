/*
 * clone.S (ARM):
 * long arch_clone_task(flags, stack_top, tls, fn, arg)
 * The child has no caller: its stack ends here, and the unwind table says so.
 *
 * Valgrind ends a program that clones a task with unknown flags, so we first
 * ask whether Valgrind runs us (the client request RUNNING_ON_VALGRIND of its
 * published interface, valgrind.h: on a real processor the sequence does
 * nothing); if so, the result is -EPERM.
 */
#define SYS_CLONE 120
#define REFUSED 1			/* EPERM */
#define RUNNING_ON_VALGRIND 0x1001
#define REQUEST_SIZE 24			/* six words */

	.syntax	unified
	.arm
	.text
	.globl	arch_clone_task
	.hidden	arch_clone_task
	.type	arch_clone_task, %function
	.p2align 2
arch_clone_task:
	.fnstart
	push	{r4, r5, r6, r7, r8, lr}
	.save	{r4, r5, r6, r7, r8, lr}
	mov	r5, r3			/* fn and arg */
	ldr	r6, [sp, #24]
	.pad	#REQUEST_SIZE
	sub	sp, sp, #REQUEST_SIZE
	movw	r7, #RUNNING_ON_VALGRIND
	mov	r8, #0
	str	r7, [sp]
	.irp	at, 4, 8, 12, 16, 20
	str	r8, [sp, #\at]
	.endr
	mov	r3, #0			/* the result without Valgrind */
	mov	r4, sp
	mov	ip, ip, ror #3
	mov	ip, ip, ror #13
	mov	ip, ip, ror #29
	mov	ip, ip, ror #19
	orr	r10, r10, r10
	add	sp, sp, #REQUEST_SIZE
	cmp	r3, #0
	bne	2f
	bic	r1, r1, #15
	stmdb	r1!, {r5, r6}		/* fn and arg, on the child's stack */
	mov	r3, r2			/* tls */
	mov	r2, #0			/* parent_tid */
	mov	r4, #0			/* child_tid */
	mov	r7, #SYS_CLONE
	svc	#0
	cmp	r0, #0
	beq	task
	pop	{r4, r5, r6, r7, r8, pc}
2:	mvn	r0, #REFUSED - 1
	pop	{r4, r5, r6, r7, r8, pc}
	.fnend
	.size	arch_clone_task, .-arch_clone_task

	/* The task's first code: it has no caller. */
	.type	task, %function
task:
	.fnstart
	.cantunwind
	mov	r7, #0
	mov	r11, #0
	mov	lr, #0
	pop	{r1, r2}
	mov	r0, r2
	blx	r1
	udf	#0
	.fnend
	.size	task, .-task
	.section .note.GNU-stack,"",%progbits
