/*
 * stubs.S (ARM): entries that leave by a tail jump, with every argument
 * register and the whole stack as the caller set them: dlopen finds plugins by
 * its caller, so none of our frames may lie between.
 *
 * Flags and ip are free at a call. The record is that of entry.h.
 */

	.syntax	unified
	.arm

	/* The index of a row among the rows with an entry in real_slots
	 * (preload/interpose/real.h), and among the REGISTERS rows. */
	.set	slot, 0
	.set	register_frame_row, 0

	/* Pushes the record, the argument registers, and a word for another
	 * argument. */
	.macro	begin name
	.globl	\name
	.type	\name, %function
	.p2align 2
\name:
	.fnstart
	bic	ip, lr, #1
	push	{r7, ip, lr}
	.save	{r7, ip, lr}
	push	{r0, r1, r2, r3}
	.save	{r0, r1, r2, r3}
	sub	sp, sp, #4
	.pad	#4
	.endm

	/* Jumps to the target, unless that is 0. */
	.macro	leave
	mov	ip, r0
	ldmib	sp, {r0, r1, r2, r3, r7}
	ldr	lr, [sp, #28]
	add	sp, sp, #32
	cmp	ip, #0
	bxne	ip
	.endm

	.macro	end name
	.fnend
	.size	\name, .-\name
	.endm

	/* Calls hooks_dlopen_note (preload/hooks/hooks_dlopen.h), which returns
	 * the jump target. `name` and `flags`: the registers of those
	 * arguments. */
	.macro	load symbol, name, flags
	begin	\symbol
	mov	ip, \flags
	str	ip, [sp]
	mov	r1, \name
	add	r2, sp, #24		/* where the return address lies */
	mov	r3, r7			/* the caller's frame pointer */
	movw	r0, #slot
	bl	hooks_dlopen_note
	leave
	/* no such function in the next library: "not found" */
	mov	r0, #0
	bx	lr
	end	\symbol
	.endm

	/* Calls register_frame_note (preload/interpose/register_frame.h), which
	 * returns the jump target. */
	.macro	register name
	begin	\name
	movw	r1, #register_frame_row
	bl	register_frame_note
	leave
	/* no such function: nothing was registered, nothing is removed */
	mov	r0, #0
	bx	lr
	end	\name
	.endm

	/* Calls hooks_longjmp_note (preload/hooks/hooks_longjmp.h), which
	 * returns the jump target. */
	.macro	jump name, returns
	begin	\name
	movw	r0, #slot
	bl	hooks_longjmp_note
	leave
	/* no such function: report failure; if the function never returns, end
	 * the program */
	.if	\returns
	mvn	r0, #0
	bx	lr
	.else
	udf	#0
	.endif
	end	\name
	.endm

/* The register of a pointer or int argument by its number. */
#define POINTER_0 #0
#define POINTER_1 r0
#define POINTER_2 r1
#define INT_0 #0
#define INT_2 r1
#define INT_3 r2

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
