/*
 * quiet_allocate.S: void quiet_allocate(void) calls quiet_allocate_body and
 * changes no register, whichever the calling convention would allow.
 */
	.text
	.globl quiet_allocate
	.type quiet_allocate, @function
quiet_allocate:
	.cfi_startproc
	endbr64
	push %rbp
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %rbp, 0
	mov %rsp, %rbp
	.cfi_def_cfa_register %rbp
	push %rax
	push %rcx
	push %rdx
	push %rsi
	push %rdi
	push %r8
	push %r9
	push %r10
	push %r11
	sub $512, %rsp
	and $-16, %rsp
	fxsave64 (%rsp)
	call quiet_allocate_body
	fxrstor64 (%rsp)
	lea -72(%rbp), %rsp
	pop %r11
	pop %r10
	pop %r9
	pop %r8
	pop %rdi
	pop %rsi
	pop %rdx
	pop %rcx
	pop %rax
	pop %rbp
	.cfi_def_cfa %rsp, 8
	ret
	.cfi_endproc
	.size quiet_allocate, . - quiet_allocate
	.section .note.GNU-stack, "", @progbits
