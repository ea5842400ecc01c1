/*
 * clone.S (AArch64):
 * long arch_clone_task(flags, stack_top, tls, fn, arg)
 * The child has no caller: its stack ends here, and the table says so.
 */
#define SYS_CLONE 220

	.text
	.globl	arch_clone_task
	.hidden	arch_clone_task
	.type	arch_clone_task, %function
	.p2align 4
arch_clone_task:
	.cfi_startproc
	hint	#34			/* bti c */
	and	x1, x1, #-16
	stp	x3, x4, [x1, #-16]!	/* fn and arg, on the child's stack */
	mov	x3, x2			/* tls */
	mov	x2, xzr			/* parent_tid */
	mov	x4, xzr			/* child_tid */
	mov	x8, #SYS_CLONE
	svc	#0
	cbz	x0, 1f
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
