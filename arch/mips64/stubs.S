/*
 * stubs.S (MIPS64): entries that leave by a tail jump, with every argument
 * register and the whole stack as the caller set them: dlopen finds plugins by
 * its caller, so none of our frames may lie between. They jump on through $25,
 * as functions expect.
 *
 * $1 … $3, $12 … $15, $24 and $25 are free at a call.
 */
#include "entry.h"

	/* The index of a row among the rows with an entry in real_slots
	 * (preload/interpose/real.h), and among the REGISTERS rows. */
	.set	slot, 0
	.set	register_frame_row, 0

	.macro	begin name
	.globl	\name
	.type	\name, @function
	.p2align 4
\name:
	.cfi_startproc
	table	\name
	daddiu	$29, $29, -48
	.cfi_adjust_cfa_offset 48
	sd	$31, 40($29)
	.cfi_rel_offset $31, 40
	sd	$30, 32($29)
	.cfi_rel_offset $30, 32
	sd	$4, 0($29)
	sd	$5, 8($29)
	sd	$6, 16($29)
	sd	$7, 24($29)
	.endm

	/* Jumps to the target, unless that is 0. These functions have at most
	 * four arguments, none in a vector register. */
	.macro	leave name
	move	$25, $2
	ld	$4, 0($29)
	ld	$5, 8($29)
	ld	$6, 16($29)
	ld	$7, 24($29)
	ld	$30, 32($29)
	ld	$31, 40($29)
	.cfi_restore $30
	.cfi_restore $31
	beqz	$25, 1f
	daddiu	$29, $29, 48
	.cfi_adjust_cfa_offset -48
	jr	$25
	nop
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
	function hooks_dlopen_note
	move	$8, \flags
	move	$5, \name
	daddiu	$6, $29, 40		/* where the return address lies */
	move	$7, $30			/* the caller's frame pointer */
	jalr	$25
	li	$4, slot
	leave	\symbol
	/* no such function in the next library: "not found" */
1:	jr	$31
	move	$2, $0
	end	\symbol
	.endm

	/* Calls register_frame_note (preload/interpose/register_frame.h), which
	 * returns the jump target. */
	.macro	register name
	begin	\name
	function register_frame_note
	jalr	$25
	li	$5, register_frame_row
	leave	\name
	/* no such function: nothing was registered, nothing is removed */
1:	jr	$31
	move	$2, $0
	end	\name
	.endm

	/* Calls hooks_longjmp_note (preload/hooks/hooks_longjmp.h), which
	 * returns the jump target. */
	.macro	jump name, returns
	begin	\name
	function hooks_longjmp_note
	jalr	$25
	li	$4, slot
	leave	\name
	/* no such function: report failure; if the function never returns, end
	 * the program */
1:	.if	\returns
	jr	$31
	li	$2, -1
	.else
	break
	.endif
	end	\name
	.endm

/* The register of a pointer or int argument by its number. */
#define POINTER_0 $0
#define POINTER_1 $4
#define POINTER_2 $5
#define INT_0 $0
#define INT_2 $5
#define INT_3 $6

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
