/*
 * stubs.S (AArch64): entries that are left by a tail jump, with every argument
 * register and the whole stack as the caller made them: dlopen finds plugins
 * by its caller's identity, so no frame of ours may lie between. All of them may
 * be jumped to, and jump on by x16, as landing pads of functions allow (BTI).
 *
 * Flags and x9 … x17 are free at a call.
 */

	/* The number of a row among those with a place in real_slots
	 * (preload/interpose/real.h), and among those of REGISTERS. */
	.set	slot, 0
	.set	registrar, 0

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

	/* Jumps to what was answered, unless that is 0. No vector register
	 * holds an argument, and none of them has more than four. */
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

	/* Tells loads_note (preload/hooks/loads.h), which answers what to jump
	 * to. `name` and `flags` are where those arguments are. */
	.macro	load symbol, name, flags
	begin	\symbol
	mov	w4, \flags
	mov	x1, \name
	ldr	x3, [x29]		/* the caller's frame pointer */
	add	x2, x29, #8		/* where the return address lies */
	mov	w0, #slot
	bl	loads_note
	leave	\symbol
	/* no such function behind us: "not found" */
1:	mov	x0, xzr
	ret
	end	\symbol
	.endm

	/* Tells registrar_note (preload/interpose/registrar.h), which answers
	 * what to jump to. */
	.macro	register name
	begin	\name
	mov	w1, #registrar
	bl	registrar_note
	leave	\name
	/* nobody to tell: nothing was registered, nothing is taken back */
1:	mov	x0, xzr
	ret
	end	\name
	.endm

	/* Asks moved_note (preload/hooks/moved.h) what to jump to. */
	.macro	jump name, returns
	begin	\name
	mov	w0, #slot
	bl	moved_note
	leave	\name
	/* no such function: it has failed, or, if nobody expects that it
	 * returns, the program has */
1:	.if	\returns
	mov	w0, #-1
	ret
	.else
	brk	#0
	.endif
	end	\name
	.endm

/* Where a pointer, or an int, is as an argument of this number. */
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
#define REGISTERS(name, how) register name; .set registrar, registrar + 1;

	.text
#include "preload/interpose/hooked.def"
	.section .note.GNU-stack,"",%progbits
