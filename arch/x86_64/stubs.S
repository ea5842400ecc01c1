/*
 * stubs.S (x86-64): entries that leave by a tail jump, with every argument
 * register and the whole stack as the caller set them: dlopen finds plugins by
 * its caller, so none of our frames may lie between.
 *
 * Flags and r11 are free at a call.
 */

	/* The index of a row among the rows with an entry in real_slots
	 * (preload/interpose/real.h), and among the REGISTERS rows. */
	.set	slot, 0
	.set	register_frame_row, 0

	/* Calls hooks_dlopen_note (preload/hooks/hooks_dlopen.h), which returns
	 * the jump target. `name` and `flags`: the registers of those
	 * arguments. All arguments are passed on unchanged; none is in a vector
	 * register. */
	.macro	load symbol, name, flags
	.globl	\symbol
	.type	\symbol, @function
	.p2align 4
\symbol:
	.cfi_startproc
	push	%rdi
	.cfi_adjust_cfa_offset 8
	push	%rsi
	.cfi_adjust_cfa_offset 8
	push	%rdx			/* the stack is aligned for a call */
	.cfi_adjust_cfa_offset 8
	mov	\flags, %r8d
	mov	\name, %rsi
	mov	$slot, %edi
	lea	24(%rsp), %rdx		/* the return address */
	mov	%rbp, %rcx
	call	hooks_dlopen_note
	mov	%rax, %r11
	pop	%rdx
	.cfi_adjust_cfa_offset -8
	pop	%rsi
	.cfi_adjust_cfa_offset -8
	pop	%rdi
	.cfi_adjust_cfa_offset -8
	test	%r11, %r11
	jz	1f
	jmp	*%r11
	/* no such function in the next library: "not found" */
1:	xor	%eax, %eax
	ret
	.cfi_endproc
	.size	\symbol, .-\symbol
	.endm

	/* Calls register_frame_note (preload/interpose/register_frame.h), which
	 * returns the jump target. All four arguments are passed on unchanged;
	 * none is in a vector register. */
	.macro	register name
	.globl	\name
	.type	\name, @function
	.p2align 4
\name:
	.cfi_startproc
	push	%rdi
	.cfi_adjust_cfa_offset 8
	push	%rsi
	.cfi_adjust_cfa_offset 8
	push	%rdx
	.cfi_adjust_cfa_offset 8
	push	%rcx
	.cfi_adjust_cfa_offset 8
	push	%rax			/* the stack is aligned for a call */
	.cfi_adjust_cfa_offset 8
	mov	$register_frame_row, %esi
	call	register_frame_note
	mov	%rax, %r11
	pop	%rax
	.cfi_adjust_cfa_offset -8
	pop	%rcx
	.cfi_adjust_cfa_offset -8
	pop	%rdx
	.cfi_adjust_cfa_offset -8
	pop	%rsi
	.cfi_adjust_cfa_offset -8
	pop	%rdi
	.cfi_adjust_cfa_offset -8
	test	%r11, %r11
	jz	1f
	jmp	*%r11
	/* no such function: nothing was registered, nothing is removed */
1:	xor	%eax, %eax
	ret
	.cfi_endproc
	.size	\name, .-\name
	.endm

	/* Calls hooks_longjmp_note (preload/hooks/hooks_longjmp.h), which
	 * returns the jump target. Both arguments are passed on unchanged. */
	.macro	jump name, returns
	.globl	\name
	.type	\name, @function
	.p2align 4
\name:
	.cfi_startproc
	push	%rdi
	.cfi_adjust_cfa_offset 8
	push	%rsi
	.cfi_adjust_cfa_offset 8
	push	%rdx			/* the stack is aligned for a call */
	.cfi_adjust_cfa_offset 8
	mov	$slot, %edi
	call	hooks_longjmp_note
	mov	%rax, %r11
	pop	%rdx
	.cfi_adjust_cfa_offset -8
	pop	%rsi
	.cfi_adjust_cfa_offset -8
	pop	%rdi
	.cfi_adjust_cfa_offset -8
	test	%r11, %r11
	jz	1f
	jmp	*%r11
	/* no such function: report failure; if the function never returns, end
	 * the program */
1:	.if	\returns
	mov	$-1, %eax
	ret
	.else
	ud2
	.endif
	.cfi_endproc
	.size	\name, .-\name
	.endm

/* The register of a pointer or int argument by its number. */
#define POINTER_0 $0
#define POINTER_1 %rdi
#define POINTER_2 %rsi
#define INT_0 $0
#define INT_2 %esi
#define INT_3 %edx

#define SLOTTED(name) .set slot, slot + 1;
#define BEHIND(name) SLOTTED(name)
#define LOADS(name, file, flags) \
	load name, POINTER_##file, INT_##flags; SLOTTED(name)
#define LEAVES(name) jump name, 0; SLOTTED(name)
#define EXCHANGES(name) jump name, 1; SLOTTED(name)
#define REGISTERS(name, how) register name; .set register_frame_row, register_frame_row + 1;

	.text
#include "preload/interpose/hooked.def"
	.section .note.GNU-stack,"",@progbits
