/*
 * switch_stack.S: void switch_stack(void **save, void *to): keeps what calls
 * keep on this stack, its pointer in *save, and goes on where `to` was kept.
 * void start_on(void **save, void *top, void (*function)(void)) begins a
 * function, which must not return, on a new stack.
 */
	.text
	.globl switch_stack
	.type switch_stack, @function
switch_stack:
	.cfi_startproc
	push %rbp
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %rbp, 0
	push %rbx
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %rbx, 0
	push %r12
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %r12, 0
	push %r13
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %r13, 0
	push %r14
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %r14, 0
	push %r15
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %r15, 0
	mov %rsp, (%rdi)
	mov %rsi, %rsp
	pop %r15
	.cfi_adjust_cfa_offset -8
	pop %r14
	.cfi_adjust_cfa_offset -8
	pop %r13
	.cfi_adjust_cfa_offset -8
	pop %r12
	.cfi_adjust_cfa_offset -8
	pop %rbx
	.cfi_adjust_cfa_offset -8
	pop %rbp
	.cfi_adjust_cfa_offset -8
	ret
	.cfi_endproc
	.size switch_stack, . - switch_stack

	.globl start_on
	.type start_on, @function
start_on:
	.cfi_startproc
	.cfi_undefined %rip
	push %rbp
	push %rbx
	push %r12
	push %r13
	push %r14
	push %r15
	mov %rsp, (%rdi)
	mov %rsi, %rsp
	xor %ebp, %ebp
	call *%rdx
	ud2
	.cfi_endproc
	.size start_on, . - start_on
	.section .note.GNU-stack, "", @progbits
