/*
 * capture.S (MIPS64): void arch_capture_regs(struct arch_regs *regs)
 * Stores the registers as they are after this function has returned.
 */
	.set	noreorder
	.set	noat
	.text
	.globl	arch_capture_regs
	.hidden	arch_capture_regs
	.type	arch_capture_regs, @function
	.p2align 4
arch_capture_regs:
	.cfi_startproc
	sd	$0, 0($4)
	.irp	r, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, \
		18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
	sd	$\r, 8 * \r($4)
	.endr
	jr	$31
	sd	$31, 8 * 32($4)
	.cfi_endproc
	.size	arch_capture_regs, .-arch_capture_regs
	.section .note.GNU-stack,"",%progbits
