/*
 * clone.S (MIPS64):
 * long arch_clone_task(flags, stack_top, tls, fn, arg)
 * The child has no caller: its stack ends here, and the unwind table says so.
 *
 * Valgrind ends a program that clones a task with unknown flags, so we first
 * ask whether Valgrind runs us (the client request RUNNING_ON_VALGRIND of its
 * published interface, valgrind.h: on a real processor the sequence does
 * nothing); if so, the result is -EPERM.
 */
#define SYS_CLONE 5055
#define REFUSED -1			/* -EPERM */
#define RUNNING_ON_VALGRIND 0x1001
#define REQUEST_SIZE 48			/* six words */

	.set	noreorder
	.set	noat
	.text
	.globl	arch_clone_task
	.hidden	arch_clone_task
	.type	arch_clone_task, @function
	.p2align 4
arch_clone_task:
	.cfi_startproc
	li	$14, RUNNING_ON_VALGRIND
	daddiu	$29, $29, -REQUEST_SIZE
	.cfi_adjust_cfa_offset REQUEST_SIZE
	sd	$14, 0($29)
	.irp	i, 1, 2, 3, 4, 5
	sd	$0, 8 * \i($29)
	.endr
	move	$11, $0			/* the result without Valgrind */
	move	$12, $29
	dsll	$0, $0, 3
	dsll	$0, $0, 13
	dsll	$0, $0, 29
	dsll	$0, $0, 19
	or	$13, $13, $13
	daddiu	$29, $29, REQUEST_SIZE
	.cfi_adjust_cfa_offset -REQUEST_SIZE
	bnez	$11, 2f
	nop
	li	$14, -16
	and	$5, $5, $14
	daddiu	$5, $5, -16
	sd	$7, 0($5)		/* fn and arg, on the child's stack */
	sd	$8, 8($5)
	move	$7, $6			/* tls */
	move	$6, $0			/* parent_tid */
	move	$8, $0			/* child_tid */
	li	$2, SYS_CLONE
	syscall
	bnez	$7, 3f
	nop
	beqz	$2, 1f
	nop
	jr	$31
	nop
3:	jr	$31
	dnegu	$2, $2
2:	jr	$31
	li	$2, REFUSED
1:	.cfi_undefined $31
	move	$30, $0
	move	$31, $0
	ld	$25, 0($29)
	ld	$4, 8($29)
	jalr	$25
	daddiu	$29, $29, 16
	break
	.cfi_endproc
	.size	arch_clone_task, .-arch_clone_task
	.section .note.GNU-stack,"",%progbits
