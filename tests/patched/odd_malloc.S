/*
 * odd_malloc.S: a malloc with a loop back to its first instructions: where
 * they are, no jump can stand. free has nothing odd.
 */
	.text
	.globl	malloc
	.type	malloc, @function
malloc:
	xor	%eax, %eax
1:	inc	%rax
	cmp	$3, %rax
	jl	1b
	mov	next(%rip), %rax
	add	$15, %rdi
	and	$-16, %rdi
	add	%rax, %rdi
	mov	%rdi, next(%rip)
	ret
	.size	malloc, .-malloc

	.globl	free
	.type	free, @function
free:
	mov	%rdi, last(%rip)
	ret
	.size	free, .-free

	.data
	.p2align 4
next:	.quad	heap
last:	.quad	0
	.bss
	.p2align 4
heap:	.skip	1 << 20
	.section .note.GNU-stack,"",@progbits
