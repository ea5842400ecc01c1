/*
 * registers_return.S: what a return may and may not change.
 *
 * void registers_call(int depth, struct registers *seen): calls a function
 * that allocates from `depth` frames further in, then fills every register,
 * the flags and the red zone from registers_wanted and returns; at once all
 * of them are stored in *seen. Nothing but rsp and rip may be different.
 *
 * Layout of struct registers (registers.c): 16 general registers of 8 bytes
 * in the order of their numbers, flags, mxcsr; at 192 the x87 and SSE state
 * as fxsave makes it; at 704 the ymm registers, at 1216 those of zmm0 to
 * zmm31, at 3264 k0 to k7; at 3328 112 bytes of the red zone
 * that the callee had.
 */
#define WANTED registers_wanted(%rip)
#define FLAGS 128
#define FXSAVE 192
#define YMM 704
#define ZMM 1216
#define MASKS 3264
#define ZONE 3328
#define ZONE_WORDS 14

	.text
	.type fill_and_return, @function
fill_and_return:
	.cfi_startproc
	endbr64
	sub $8, %rsp
	.cfi_adjust_cfa_offset 8
	call registers_allocate
	add $8, %rsp
	.cfi_adjust_cfa_offset -8
	lea WANTED, %rsi
	lea -128(%rsp), %rdi
	add $ZONE, %rsi
	mov $ZONE_WORDS, %ecx
	cld
	rep movsq
	lea WANTED, %rax
	fxrstor64 FXSAVE(%rax)
	cmpl $1, registers_have_avx(%rip)
	jb 1f
	.irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
	vmovdqu YMM+32*\n(%rax), %ymm\n
	.endr
	cmpl $2, registers_have_avx(%rip)
	jb 1f
	.irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
	vmovdqu64 ZMM+64*\n(%rax), %zmm\n
	.endr
	.irp n, 16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
	vmovdqu64 ZMM+64*\n(%rax), %zmm\n
	.endr
	.irp n, 0,1,2,3,4,5,6,7
	kmovq MASKS+8*\n(%rax), %k\n
	.endr
1:	pushq FLAGS(%rax)
	.cfi_adjust_cfa_offset 8
	popfq
	.cfi_adjust_cfa_offset -8
	mov 8(%rax), %rcx
	mov 16(%rax), %rdx
	mov 24(%rax), %rbx
	mov 40(%rax), %rbp
	mov 48(%rax), %rsi
	mov 56(%rax), %rdi
	mov 64(%rax), %r8
	mov 72(%rax), %r9
	mov 80(%rax), %r10
	mov 88(%rax), %r11
	mov 96(%rax), %r12
	mov 104(%rax), %r13
	mov 112(%rax), %r14
	mov 120(%rax), %r15
	mov (%rax), %rax
	ret
	.cfi_endproc
	.size fill_and_return, . - fill_and_return

	.globl registers_call
	.type registers_call, @function
registers_call:
	.cfi_startproc
	endbr64
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
	push %rsi		/* seen */
	.cfi_adjust_cfa_offset 8
	sub $16, %rsp
	.cfi_adjust_cfa_offset 16
	stmxcsr (%rsp)
	fnstcw 4(%rsp)
	call fill_and_return
	/* rsp is the one register that is known: through it to all others.
	 * The slot of the return address is the first word below it, so what
	 * is stored meanwhile goes above. */
	mov %rax, 8(%rsp)
	mov 16(%rsp), %rax
	mov %rcx, 8(%rax)
	mov %rdx, 16(%rax)
	mov %rbx, 24(%rax)
	mov %rsp, 32(%rax)
	mov %rbp, 40(%rax)
	mov %rsi, 48(%rax)
	mov %rdi, 56(%rax)
	mov %r8, 64(%rax)
	mov %r9, 72(%rax)
	mov %r10, 80(%rax)
	mov %r11, 88(%rax)
	mov %r12, 96(%rax)
	mov %r13, 104(%rax)
	mov %r14, 112(%rax)
	mov %r15, 120(%rax)
	mov 8(%rsp), %rcx
	mov %rcx, (%rax)
	.irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13
	mov 8*\n-136(%rsp), %rcx
	mov %rcx, ZONE+8*\n(%rax)
	.endr
	pushfq
	.cfi_adjust_cfa_offset 8
	popq FLAGS(%rax)
	.cfi_adjust_cfa_offset -8
	fxsave64 FXSAVE(%rax)
	cmpl $1, registers_have_avx(%rip)
	jb 1f
	.irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
	vmovdqu %ymm\n, YMM+32*\n(%rax)
	.endr
	cmpl $2, registers_have_avx(%rip)
	jb 1f
	.irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
	vmovdqu64 %zmm\n, ZMM+64*\n(%rax)
	.endr
	.irp n, 16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
	vmovdqu64 %zmm\n, ZMM+64*\n(%rax)
	.endr
	.irp n, 0,1,2,3,4,5,6,7
	kmovq %k\n, MASKS+8*\n(%rax)
	.endr
	vzeroupper
1:	cld
	fninit
	fldcw 4(%rsp)
	ldmxcsr (%rsp)
	add $24, %rsp
	.cfi_adjust_cfa_offset -24
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
	.size registers_call, . - registers_call
	.section .note.GNU-stack, "", @progbits
