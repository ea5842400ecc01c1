/*
 * barriers.S (AArch64): return stubs, and the table of their targets.
 *
 *	arch_stubs            code, 8 bytes a stub:  ldr x16, table[i]
 *	                                             ret x16
 *	arch_stubs + DELTA    table, 8 bytes an entry: where stub i returns to
 *
 * A stub changes x16 alone, which every call may destroy (linkers' veneers do):
 * no other register, flag, stack byte or thread-local. It leaves by ret rather
 * than br, since a return needs no landing pad in pages guarded by BTI. (The
 * processor's return predictor is off by one call then, until it is next
 * empty.) A stub needs no landing pad either, as only returns reach it. Stub 0
 * is never used: unwinders look up the address before a return address, which
 * for stub 1 lies in stub 0.
 *
 * One FDE covers all stubs: the stack pointer is unchanged, and the return
 * address lies at x30 + DELTA. x30 is the stub's own address: a return left it
 * there, and an unwinder that restores a frame's registers finds it in that
 * frame's slot. Every unwinder can therefore pass a stub: exceptions,
 * backtrace(), debuggers. (The CFA is off by one byte, so that no two frames
 * seem equal.) In the expressions register 30 is x30, 31 is sp. DWARF 5,
 * 6.4.2.3 and 2.5.
 *
 * The section is loaded as code; barrier_init makes the table's pages writable
 * and no longer executable before the first stub is used: it begins and ends at
 * the boundary of a page of the largest size, 64 KB.
 */
#include "regs.h"

	.section .text.gnomon_stubs,"ax",%progbits
	.p2align 16
	.zero	65536 - ARCH_STUB_DELTA
	.globl	arch_stubs
	.hidden	arch_stubs
	.type	arch_stubs, %function
arch_stubs:
	.cfi_startproc
	.cfi_def_cfa sp, 1
	/* DW_CFA_val_expression r31: breg31 0 */
	.cfi_escape 0x16, 0x1f, 0x02, 0x8f, 0x00
	/* DW_CFA_expression r30: breg30 DELTA (32768) */
	.cfi_escape 0x10, 0x1e, 0x04, 0x8e, 0x80, 0x80, 0x02
	.set	i, 0
	.rept	ARCH_STUBS
	ldr	x16, arch_stub_table + 8 * i
	ret	x16
	.set	i, i + 1
	.endr
	.cfi_endproc
	.size	arch_stubs, .-arch_stubs

	.globl	arch_stub_table
	.hidden	arch_stub_table
	.type	arch_stub_table, %object
arch_stub_table:
	.zero	8 * ARCH_STUBS
	.size	arch_stub_table, .-arch_stub_table
	.p2align 16
	.section .note.GNU-stack,"",%progbits
