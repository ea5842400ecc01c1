/*
 * stubs.S (x86-64): entries that are left by a tail jump, with every argument
 * register and the whole stack as the caller made them: dlopen finds plugins
 * by its caller's identity, so no frame of ours may lie between.
 *
 * Flags and r11 are free at a call.
 */

	/* The number of a row among those with a place in real_slots
	 * (preload/interpose/real.h), and among those of REGISTERS. */
	.set	slot, 0
	.set	registrar, 0

	/* Tells loads_note (preload/hooks/loads.h), which answers what to jump
	 * to. `name` and `flags` are where those arguments are. All of them go
	 * on as they came; no vector register holds one. */
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
	call	loads_note
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
	/* no such function behind us: "not found" */
1:	xor	%eax, %eax
	ret
	.cfi_endproc
	.size	\symbol, .-\symbol
	.endm

	/* Tells registrar_note (preload/interpose/registrar.h), which answers
	 * what to jump to. All four arguments go on as they came; no vector
	 * register holds one. */
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
	mov	$registrar, %esi
	call	registrar_note
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
	/* nobody to tell: nothing was registered, nothing is taken back */
1:	xor	%eax, %eax
	ret
	.cfi_endproc
	.size	\name, .-\name
	.endm

	/* Asks moved_note (preload/hooks/moved.h) what to jump to. Both
	 * arguments go on as they came. */
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
	call	moved_note
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
	/* no such function: it has failed, or, if nobody expects that it
	 * returns, the program has */
1:	.if	\returns
	mov	$-1, %eax
	ret
	.else
	ud2
	.endif
	.cfi_endproc
	.size	\name, .-\name
	.endm

/* Where a pointer, or an int, is as an argument of this number. */
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
#define REGISTERS(name, how) register name; .set registrar, registrar + 1;

	.text
#include "preload/interpose/hooked.def"
	.section .note.GNU-stack,"",@progbits
