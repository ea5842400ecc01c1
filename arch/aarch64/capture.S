/*
 * capture.S (AArch64): void arch_capture_regs(struct arch_regs *regs)
 * Stores the registers as they are after this function has returned.
 */
	.text
	.globl	arch_capture_regs
	.hidden	arch_capture_regs
	.type	arch_capture_regs, %function
	.p2align 4
arch_capture_regs:
	.cfi_startproc
	hint	#34			/* bti c */
	stp	x0, x1, [x0]
	stp	x2, x3, [x0, #16]
	stp	x4, x5, [x0, #32]
	stp	x6, x7, [x0, #48]
	stp	x8, x9, [x0, #64]
	stp	x10, x11, [x0, #80]
	stp	x12, x13, [x0, #96]
	stp	x14, x15, [x0, #112]
	stp	x16, x17, [x0, #128]
	stp	x18, x19, [x0, #144]
	stp	x20, x21, [x0, #160]
	stp	x22, x23, [x0, #176]
	stp	x24, x25, [x0, #192]
	stp	x26, x27, [x0, #208]
	stp	x28, x29, [x0, #224]
	mov	x1, sp
	stp	x30, x1, [x0, #240]
	str	x30, [x0, #256]
	ret
	.cfi_endproc
	.size	arch_capture_regs, .-arch_capture_regs
	.section .note.GNU-stack,"",%progbits
