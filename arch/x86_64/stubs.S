/*
 * stubs.S (x86-64): entries that are left by a tail jump, with every argument
 * register and the whole stack as the caller made them: dlopen finds plugins
 * by its caller's identity, so no frame of ours may lie between.
 *
 * Flags and r11 are free at a call.
 */

	/* Tells loads_note (preload/hooks/loads.h), which answers what to jump
	 * to. `name` and `flags` are where those arguments are. All of them go
	 * on as they came; no vector register holds one. */
	.macro	load symbol, what, name, flags
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
	mov	$\what, %edi
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
	.macro	register name, what
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
	mov	$\what, %esi
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
	.macro	jump name, what
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
	mov	$\what, %edi
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
1:	.if	\what < 4
	ud2
	.else
	mov	$-1, %eax
	ret
	.endif
	.cfi_endproc
	.size	\name, .-\name
	.endm

	.text
	/* enum loads_what */
	load	dlopen, 0, %rdi, %esi
	load	dlmopen, 1, %rsi, %edx
	load	dlclose, 2, $0, $0
	/* enum moved_what */
	jump	longjmp, 0
	jump	_longjmp, 1
	jump	siglongjmp, 2
	jump	__longjmp_chk, 3
	jump	setcontext, 4
	jump	swapcontext, 5
	/* enum registrar_what */
	register __register_frame, 0
	register __register_frame_info, 1
	register __register_frame_info_bases, 2
	register __register_frame_table, 3
	register __register_frame_info_table, 4
	register __register_frame_info_table_bases, 5
	register __deregister_frame, 6
	register __deregister_frame_info, 7
	register __deregister_frame_info_bases, 8
	.section .note.GNU-stack,"",@progbits
