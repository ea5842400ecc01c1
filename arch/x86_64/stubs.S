/*
 * stubs.S (x86-64): entries that are left by a tail jump, with every argument
 * register and the whole stack as the caller made them: dlopen finds plugins
 * by its caller's identity, so no frame of ours may lie between.
 *
 * Flags and r11 are free at a call.
 */

	/* Calls a function between a caller's call and its callee: the stack is
	 * aligned for that, and three arguments are kept. */
	.macro	keeping function
	push	%rdi
	.cfi_adjust_cfa_offset 8
	push	%rsi
	.cfi_adjust_cfa_offset 8
	push	%rdx
	.cfi_adjust_cfa_offset 8
	call	\function
	pop	%rdx
	.cfi_adjust_cfa_offset -8
	pop	%rsi
	.cfi_adjust_cfa_offset -8
	pop	%rdi
	.cfi_adjust_cfa_offset -8
	.endm

	/* Counts capture_generation up first: the loader's list is about to
	 * change. note: a function that is told, with the same arguments. No
	 * vector register holds one. */
	.macro	entry name, target, note
	.globl	\name
	.type	\name, @function
	.p2align 4
\name:
	.cfi_startproc
	lock incl capture_generation(%rip)
	.ifnb	\note
	keeping	\note
	.endif
	mov	\target(%rip), %r11
	test	%r11, %r11
	jz	1f
	jmp	*%r11
	/* called before any allocation: look it up */
1:	keeping	real_resolve
	mov	\target(%rip), %r11
	test	%r11, %r11
	jz	2f
	jmp	*%r11
	/* no such function behind us: "not found" */
2:	xor	%eax, %eax
	ret
	.cfi_endproc
	.size	\name, .-\name
	.endm

	/* Tells registrar_note (preload/registrar.h), which answers what to
	 * jump to. All four arguments go on as they came; no vector register
	 * holds one. */
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

	/* Asks moved_note (preload/moved.h) what to jump to. Both arguments go
	 * on as they came. */
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
	entry	dlopen, real_dlopen, deepbind_note
	entry	dlmopen, real_dlmopen
	entry	dlclose, real_dlclose
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
