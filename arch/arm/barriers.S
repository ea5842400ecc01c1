/*
 * barriers.S (ARM): return stubs, and the table they jump by.
 *
 *	arch_stubs            code, 8 bytes a stub:   add ip, pc, table[i], high
 *	                                              ldr pc, [ip, low]
 *	arch_stubs + DELTA    table, 4 bytes an entry: where stub i returns to
 *
 * A stub touches ip alone, which every call may destroy (linkers' veneers do):
 * no other register, flag, stack byte or thread-local. Its code is ARM's, and
 * what it loads says which instructions are there, as the return address did
 * that it stands for. Stub 0 is never used.
 *
 * The section is loaded as code; barrier_init makes the table's pages writable
 * and no longer executable before the first stub is used: it begins and ends on a
 * page of the largest kind, 64 KB.
 */
#include "regs.h"

	.syntax	unified
	.arm
	.section .text.gnomon_stubs,"ax",%progbits
	.p2align 16
	.zero	65536 - ARCH_STUB_DELTA
	.globl	arch_stubs
	.hidden	arch_stubs
	.type	arch_stubs, %function
arch_stubs:
	.fnstart
	.cantunwind
	.set	at, ARCH_STUB_DELTA - 8
	.rept	ARCH_STUBS
	add	ip, pc, #(at & 0xf000)
	ldr	pc, [ip, #(at & 0xfff)]
	.set	at, at - 4
	.endr
	.fnend
	.size	arch_stubs, .-arch_stubs

	/* not where barrier.c wants it: there are no barriers here */
	.zero	65536
	.globl	arch_stub_table
	.hidden	arch_stub_table
	.type	arch_stub_table, %object
arch_stub_table:
	.zero	4 * ARCH_STUBS
	.size	arch_stub_table, .-arch_stub_table
	.p2align 16
	.section .note.GNU-stack,"",%progbits
