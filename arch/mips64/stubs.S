/*
 * stubs.S (MIPS64): entries that are left by a tail jump, with every argument
 * register and the whole stack as the caller made them: dlopen finds plugins
 * by its caller's identity, so no frame of ours may lie between. They jump on by
 * $25, as functions want to be entered.
 *
 * $1 … $3, $12 … $15, $24 and $25 are free at a call.
 */
#include "entry.h"

	/* The number of a row among those with a place in real_slots
	 * (preload/interpose/real.h), and among those of REGISTERS. */
	.set	slot, 0
	.set	registrar, 0

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

	/* Jumps to what was answered, unless that is 0. No vector register
	 * holds an argument, and none of them has more than four. */
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

	/* Tells loads_note (preload/hooks/loads.h), which answers what to jump
	 * to. `name` and `flags` are where those arguments are. */
	.macro	load symbol, name, flags
	begin	\symbol
	function loads_note
	move	$8, \flags
	move	$5, \name
	daddiu	$6, $29, 40		/* where the return address lies */
	move	$7, $30			/* the caller's frame pointer */
	jalr	$25
	li	$4, slot
	leave	\symbol
	/* no such function behind us: "not found" */
1:	jr	$31
	move	$2, $0
	end	\symbol
	.endm

	/* Tells registrar_note (preload/interpose/registrar.h), which answers
	 * what to jump to. */
	.macro	register name
	begin	\name
	function registrar_note
	jalr	$25
	li	$5, registrar
	leave	\name
	/* nobody to tell: nothing was registered, nothing is taken back */
1:	jr	$31
	move	$2, $0
	end	\name
	.endm

	/* Asks moved_note (preload/hooks/moved.h) what to jump to. */
	.macro	jump name, returns
	begin	\name
	function moved_note
	jalr	$25
	li	$4, slot
	leave	\name
	/* no such function: it has failed, or, if nobody expects that it
	 * returns, the program has */
1:	.if	\returns
	jr	$31
	li	$2, -1
	.else
	break
	.endif
	end	\name
	.endm

/* Where a pointer, or an int, is as an argument of this number. */
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
#define REGISTERS(name, how) register name; .set registrar, registrar + 1;

	.text
#include "preload/interpose/hooked.def"
	.section .note.GNU-stack,"",%progbits
