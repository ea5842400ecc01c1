/*
 * stubs.S (AArch64): entries that leave by a tail jump, with every argument
 * register and the whole stack as the caller set them: dlopen finds plugins by
 * its caller, so none of our frames may lie between. All of them are valid jump
 * targets, and jump on through x16, which landing pads of functions allow
 * (BTI).
 *
 * Flags and x9 … x17 are free at a call.
 */

	/* The index of a row among the rows with an entry in real_slots
	 * (preload/interpose/real.h), and among the REGISTERS rows. */
	.set	slot, 0
	.set	register_frame_row, 0

	.macro	begin name
	.globl	\name
	.type	\name, %function
	.p2align 4
\name:
	.cfi_startproc
	hint	#34			/* bti c */
	stp	x29, x30, [sp, #-16]!
	.cfi_adjust_cfa_offset 16
	.cfi_rel_offset x29, 0
	.cfi_rel_offset x30, 8
	mov	x29, sp
	stp	x0, x1, [sp, #-32]!
	.cfi_adjust_cfa_offset 32
	stp	x2, x3, [sp, #16]
	.endm

	/* Jumps to the target, unless that is 0. These functions have at most
	 * four arguments, none in a vector register. */
	.macro	leave name
	mov	x16, x0
	ldp	x2, x3, [sp, #16]
	ldp	x0, x1, [sp], #32
	.cfi_adjust_cfa_offset -32
	ldp	x29, x30, [sp], #16
	.cfi_adjust_cfa_offset -16
	.cfi_restore x29
	.cfi_restore x30
	cbz	x16, 1f
	br	x16
	.endm

	.macro	end name
	.cfi_endproc
	.size	\name, .-\name
	.endm

	/* Calls hooks_dlopen_note (preload/hooks/hooks_dlopen.h), which returns
	 * the jump target. `name` and `flags`: the registers of those
	 * arguments. */
	.macro	load symbol, name, flags
	begin	\symbol
	mov	w4, \flags
	mov	x1, \name
	ldr	x3, [x29]		/* the caller's frame pointer */
	add	x2, x29, #8		/* where the return address lies */
	mov	w0, #slot
	bl	hooks_dlopen_note
	leave	\symbol
	/* no such function in the next library: "not found" */
1:	mov	x0, xzr
	ret
	end	\symbol
	.endm

	/* Calls register_frame_note (preload/interpose/register_frame.h), which
	 * returns the jump target. */
	.macro	register name
	begin	\name
	mov	w1, #register_frame_row
	bl	register_frame_note
	leave	\name
	/* no such function: nothing was registered, nothing is removed */
1:	mov	x0, xzr
	ret
	end	\name
	.endm

	/* Calls hooks_longjmp_note (preload/hooks/hooks_longjmp.h), which
	 * returns the jump target. */
	.macro	jump name, returns
	begin	\name
	mov	w0, #slot
	bl	hooks_longjmp_note
	leave	\name
	/* no such function: report failure; if the function never returns, end
	 * the program */
1:	.if	\returns
	mov	w0, #-1
	ret
	.else
	brk	#0
	.endif
	end	\name
	.endm

/* The register of a pointer or int argument by its number. */
#define POINTER_0 xzr
#define POINTER_1 x0
#define POINTER_2 x1
#define INT_0 wzr
#define INT_2 w1
#define INT_3 w2

#define SLOTTED(name) .set slot, slot + 1;
#define BEHIND(name) SLOTTED(name)
#define LOADS(name, file, flags) \
	load name, POINTER_##file, INT_##flags; SLOTTED(name)
#define LEAVES(name) jump name, 0; SLOTTED(name)
#define EXCHANGES(name) jump name, 1; SLOTTED(name)
#define REGISTERS(name, how) register name; .set register_frame_row, register_frame_row + 1;

	.text
#include "preload/interpose/hooked.def"
	.section .note.GNU-stack,"",%progbits
