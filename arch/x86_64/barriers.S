/*
 * barriers.S (x86-64): return stubs, and the table of their targets.
 *
 *	arch_stubs            code, 8 bytes a stub:  notrack jmp *table[i]
 *	arch_stubs + DELTA    table, 8 bytes an entry: where stub i returns to
 *
 * A stub changes no register, flag, stack byte or thread-local. It leaves by a
 * jump, never by a return, so that the processor's return predictor stays in
 * step with the calls further out. Stub 0 is never used: unwinders look up the
 * address before a return address, which for stub 1 lies in stub 0.
 *
 * One FDE covers all stubs: the return address lies at pc + DELTA, the stack
 * pointer is unchanged. Every unwinder can therefore pass a stub: exceptions,
 * backtrace(), debuggers. (The CFA is off by one byte, so that no two frames
 * seem equal.) In the expressions register 16 is the return address column,
 * whose value in this frame is the stub's own address; 7 is rsp. DWARF 5,
 * 6.4.2.3 and 2.5.
 *
 * The section is loaded as code; barrier_init makes the table's pages
 * writable and no longer executable before the first stub is used.
 */
#include "regs.h"

	.section .text.gnomon_stubs,"ax",@progbits
	.p2align 12
	.globl	arch_stubs
	.hidden	arch_stubs
	.type	arch_stubs, @function
arch_stubs:
	.cfi_startproc
	.cfi_def_cfa rsp, 1
	/* DW_CFA_val_expression r7: breg7 0 */
	.cfi_escape 0x16, 0x07, 0x02, 0x77, 0x00
	/* DW_CFA_expression r16: breg16 DELTA (32768) */
	.cfi_escape 0x10, 0x10, 0x04, 0x80, 0x80, 0x80, 0x02
	.set	i, 0
	.rept	ARCH_STUBS
	/* encoded by hand: the assembler must not choose another length */
	.byte	0x3e, 0xff, 0x25
	.long	arch_stub_table + 8 * i - (. + 4)
	.byte	0xcc
	.set	i, i + 1
	.endr
	.cfi_endproc
	.size	arch_stubs, .-arch_stubs

	.globl	arch_stub_table
	.hidden	arch_stub_table
	.type	arch_stub_table, @object
arch_stub_table:
	.zero	8 * ARCH_STUBS
	.size	arch_stub_table, .-arch_stub_table
	.section .note.GNU-stack,"",@progbits
