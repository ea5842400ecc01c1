/*
 * switch_base.S: void switch_base(void *top, uintptr_t word, void (*f)(void))
 * runs f on another stack, with the word where f's return address would be:
 * what lies outward of a fiber may be anything, as such a function never
 * returns. leave_base() goes back to whom called switch_base, from any depth.
 * f's caller has no unwind table, so that the word is what a walk meets.
 */
	.text
	.globl switch_base
	.type switch_base, @function
switch_base:
	push %rbp
	push %rbx
	push %r12
	push %r13
	push %r14
	push %r15
	mov %rsp, saved(%rip)
	lea -16(%rdi), %rsp
	and $-16, %rsp
	push %rsi
	xor %ebp, %ebp
	jmp *%rdx
	.size switch_base, . - switch_base

	.globl leave_base
	.type leave_base, @function
leave_base:
	mov saved(%rip), %rsp
	pop %r15
	pop %r14
	pop %r13
	pop %r12
	pop %rbx
	pop %rbp
	ret
	.size leave_base, . - leave_base

	.local saved
	.comm saved, 8, 8
	.section .note.GNU-stack, "", @progbits
