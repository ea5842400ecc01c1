/*
 * barriers.S (ARM): return stubs, and the table of their targets.
 *
 *	arch_stubs            code, 8 bytes a stub:   add ip, pc, table[i], high
 *	                                              ldr pc, [ip, low]
 *	arch_stubs + DELTA    table, 4 bytes an entry: where stub i returns to
 *
 * A stub changes ip alone, which every call may destroy (linkers' veneers do):
 * no other register, flag, stack byte or thread-local. Stubs are ARM code; the
 * loaded address selects ARM or Thumb, like the return address that it
 * replaces. Stub 0 is never used: unwinders look up the address before a return
 * address, which for stub 1 lies in stub 0.
 *
 * One entry of the index covers all stubs. It names a personality routine,
 * which every unwinder calls at each step: searching for a handler, running
 * cleanups, forced unwinding, backtraces. Ours replaces the pc by the stub's
 * target and continues. The stack pointer stays unchanged; handlers' frames are
 * identified by it, through their own routines.
 *
 * Debuggers do not call the routine: for them .debug_frame says the same. The
 * return address lies in the table at an offset that follows from the pc, since
 * the stubs begin at a multiple of their size. (The CFA is off by one byte, so
 * that no two frames seem equal.) DWARF 5, 6.4.2.3 and 2.5.
 *
 * The section is loaded as code; barrier_init makes the table's pages writable
 * and no longer executable before the first stub is used: it begins and ends at
 * the boundary of a page of the largest size, 64 KB.
 */
#include "regs.h"

	.syntax	unified
	.arm
	.cfi_sections .debug_frame
	.section .text.gnomon_stubs,"ax",%progbits
	.p2align 16
	.zero	65536 - ARCH_STUB_DELTA
	.globl	arch_stubs
	.hidden	arch_stubs
	.type	arch_stubs, %function
arch_stubs:
	.fnstart
	.cfi_startproc
	.cfi_def_cfa sp, 1
	/* DW_CFA_val_expression r13: breg13 0 */
	.cfi_escape 0x16, 0x0d, 0x02, 0x7d, 0x00
	/* DW_CFA_expression r14: breg15 0, lit7, not, and (the stub's first
	 * instruction), dup, const2u DELTA - 1, and, lit1, shr, minus,
	 * plus_uconst DELTA (32768) */
	.cfi_escape 0x10, 0x0e, 0x11, 0x7f, 0x00, 0x37, 0x20, 0x1a
	.cfi_escape 0x12, 0x0a, 0xff, 0x7f
	.cfi_escape 0x1a, 0x31, 0x25, 0x1c, 0x23, 0x80, 0x80, 0x02
	.set	at, ARCH_STUB_DELTA - 8
	.rept	ARCH_STUBS
	add	ip, pc, #(at & 0xf000)
	ldr	pc, [ip, #(at & 0xfff)]
	.set	at, at - 4
	.endr
	.personality arch_stub_personality
	.handlerdata
	/* for readers that ignore the routine: cannot be unwound */
	.word	0x008000b0
	.previous
	.cfi_endproc
	.fnend
	.size	arch_stubs, .-arch_stubs

	.globl	arch_stub_table
	.hidden	arch_stub_table
	.type	arch_stub_table, %object
arch_stub_table:
	.zero	4 * ARCH_STUBS
	.size	arch_stub_table, .-arch_stub_table
	.p2align 16

/*
 * _Unwind_Reason_Code arch_stub_personality(_Unwind_State,
 * _Unwind_Control_Block *, _Unwind_Context *): replaces the context's pc, a
 * stub's address, by the stub's target. The ABI's access functions belong to
 * the calling unwinder; several may be loaded, with exported names or without.
 * So it writes the context directly: libgcc has always kept the pc at this
 * offset. LLVM's context holds more than registers, so processes with that have
 * no barriers (image_kind.c).
 */
	.set	CONTINUE_UNWIND, 8
	.set	FAILURE, 9
	.set	CONTEXT_PC, 64		/* a word of flags, r0 … r15 */
	.text
	.globl	arch_stub_personality
	.hidden	arch_stub_personality
	.type	arch_stub_personality, %function
	.p2align 2
arch_stub_personality:
	.fnstart
	.cantunwind
	ldr	r3, 2f
1:	add	r3, pc, r3
	ldr	r1, [r2, #CONTEXT_PC]
	sub	r1, r1, r3
	cmp	r1, #ARCH_STUB_DELTA
	movhs	r0, #FAILURE
	bxhs	lr
	lsr	r1, r1, #3		/* also in the middle of a stub, after a
					 * signal */
	add	r3, r3, #ARCH_STUB_DELTA
	ldr	r1, [r3, r1, lsl #2]
	str	r1, [r2, #CONTEXT_PC]
	mov	r0, #CONTINUE_UNWIND
	bx	lr
2:	.word	arch_stubs - (1b + 8)
	.fnend
	.size	arch_stub_personality, .-arch_stub_personality
	.section .note.GNU-stack,"",%progbits
