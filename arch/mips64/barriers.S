/*
 * barriers.S (MIPS64): return stubs, and the table of their targets.
 *
 *	arch_stubs            code, 8 bytes a stub:  ld $1, DELTA($31)
 *	                                             jr $1
 *	arch_stubs + DELTA    table, 8 bytes an entry: where stub i returns to
 *
 * A return to a stub leaves the stub's address in $31. The delay slot of the
 * stub's jump is the next stub's load, which harmlessly repeats it; behind the
 * last stub lies an extra one for that purpose. A stub changes only $1, the
 * assembler's register, in which no function returns a value: no other
 * register, stack byte or thread-local. Stub 0 is never used: unwinders look up
 * the address before a return address, which for stub 1 lies in stub 0.
 *
 * One FDE covers all stubs: the stack pointer is unchanged, and the return
 * address lies at $31 + DELTA. $31 is the stub's own address: a return left it
 * there, and an unwinder that restores a frame's registers finds it in that
 * frame's slot. Every unwinder can therefore pass a stub: exceptions,
 * backtrace(), debuggers. (The CFA is off by one byte, so that no two frames
 * seem equal.) DWARF 5, 6.4.2.3 and 2.5.
 *
 * The section is loaded as code; barrier_init makes the table's pages writable
 * and no longer executable before the first stub is used: it begins and ends at
 * the boundary of a page of the largest size, 64 KB.
 */
#include "regs.h"

	.set	noreorder
	.set	noat
	.section .text.gnomon_stubs,"ax",@progbits
	.p2align 16
	.zero	65536 - ARCH_STUB_DELTA
	.globl	arch_stubs
	.hidden	arch_stubs
	.type	arch_stubs, @function
arch_stubs:
	.cfi_startproc
	.cfi_def_cfa $29, 1
	/* DW_CFA_val_expression r29: breg29 0 */
	.cfi_escape 0x16, 0x1d, 0x02, 0x8d, 0x00
	/* DW_CFA_expression r31: breg31 DELTA (16384) */
	.cfi_escape 0x10, 0x1f, 0x04, 0x8f, 0x80, 0x80, 0x01
	.rept	ARCH_STUBS + 1
	ld	$1, ARCH_STUB_DELTA($31)
	jr	$1
	.endr
	.cfi_endproc
	.size	arch_stubs, .-arch_stubs

	.globl	arch_stub_table
	.hidden	arch_stub_table
	.type	arch_stub_table, @object
arch_stub_table:
	.zero	8 * ARCH_STUBS
	.size	arch_stub_table, .-arch_stub_table
	.p2align 16
	.section .note.GNU-stack,"",%progbits
