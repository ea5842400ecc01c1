/*
 * bare_call.S: void *bare_call(void *(*function)(size_t), size_t size) calls
 * the function without any word for an unwinder, and with a frame pointer
 * that points nowhere: a walk must end here, or go by the code, and hurt nobody.
 */
	.text
	.globl bare_call
	.type bare_call, @function
bare_call:
	push %rbp
	push %rbx
	sub $24, %rsp
	mov $0xdead0008, %rbp
	mov %rdi, %rax
	mov %rsi, %rdi
	call *%rax
	add $24, %rsp
	pop %rbx
	pop %rbp
	ret
	.size bare_call, . - bare_call
	.section .note.GNU-stack, "", @progbits
