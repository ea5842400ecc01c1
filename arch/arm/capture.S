/*
 * capture.S (ARM): void arch_capture_regs(struct arch_regs *regs)
 * Stores the registers as they are after this function has returned. Each takes
 * eight bytes, of which the upper four are zero.
 */
	.syntax	unified
	.arm
	.text
	.globl	arch_capture_regs
	.hidden	arch_capture_regs
	.type	arch_capture_regs, %function
	.p2align 2
arch_capture_regs:
	.fnstart
	str	ip, [r0, #12 * 8]
	mov	ip, #0
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11
	str	r\n, [r0, #\n * 8]
	str	ip, [r0, #\n * 8 + 4]
	.endr
	str	ip, [r0, #12 * 8 + 4]
	str	sp, [r0, #13 * 8]
	str	ip, [r0, #13 * 8 + 4]
	str	lr, [r0, #14 * 8]
	str	ip, [r0, #14 * 8 + 4]
	str	ip, [r0, #15 * 8 + 4]
	bic	ip, lr, #1
	str	ip, [r0, #15 * 8]
	bx	lr
	.fnend
	.size	arch_capture_regs, .-arch_capture_regs

	/* Each index entry names its personality routine, one of the three that
	 * the ABI numbers. An unwinder uses its own; these symbols only satisfy
	 * the linker. */
	.irp	n, 0, 1, 2
	.globl	__aeabi_unwind_cpp_pr\n
	.hidden	__aeabi_unwind_cpp_pr\n
	.type	__aeabi_unwind_cpp_pr\n, %function
__aeabi_unwind_cpp_pr\n:
	.endr
	udf	#0

	/* The compiler's library jumps here on a division by 0. */
	.irp	name, __aeabi_idiv0, __aeabi_ldiv0
	.globl	\name
	.hidden	\name
	.type	\name, %function
\name:
	.endr
	udf	#0
	.section .note.GNU-stack,"",%progbits
