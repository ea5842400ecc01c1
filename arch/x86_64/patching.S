/*
 * patching.S (x86-64): see patching.h.
 *
 * A thunk leaves the slot's address in r11. The caller's state that the wrapper
 * reads lies around the frame pointer (struct patch_frame):
 *
 *	rbp + 8   return address     rbp - 8   slot
 *	rbp       caller's rbp       rbp - 16  rax, as the caller had it
 *
 * arch_patch_entry_keeping is for functions whose callers were compiled
 * together with them and may rely on any register that the function happens not
 * to change (gcc, -fipa-ra). Its thunk has made the frame and pushed r11. Such
 * callers do not even align the stack (-fipa-stack-alignment).
 */
#include "patching.h"

#define GENERAL 24		/* rcx … r11: 8 words, downward */
#define VECTORS 256		/* xmm0 … xmm15, upward from rsp */

	.text
	.globl	arch_patch_entry
	.hidden	arch_patch_entry
	.type	arch_patch_entry, @function
	.p2align 4
arch_patch_entry:
	.cfi_startproc
	push	%rbp
	.cfi_adjust_cfa_offset 8
	.cfi_offset rbp, -16
	mov	%rsp, %rbp
	.cfi_def_cfa_register rbp
	sub	$16, %rsp
	and	$-16, %rsp		/* see below */
	mov	%r11, -8(%rbp)
	mov	%rax, -16(%rbp)
	call	*ARCH_PATCH_WRAPPER(%r11)
	leave
	.cfi_def_cfa rsp, 8
	ret
	.cfi_endproc
	.size	arch_patch_entry, .-arch_patch_entry

	.globl	arch_patch_entry_keeping
	.hidden	arch_patch_entry_keeping
	.type	arch_patch_entry_keeping, @function
	.p2align 4
arch_patch_entry_keeping:
	.cfi_startproc
	.cfi_def_cfa rbp, 16
	.cfi_offset rbp, -16
	sub	$(GENERAL + 8 * 8 + VECTORS), %rsp
	and	$-16, %rsp
	mov	%rax, -16(%rbp)
	mov	%rcx, (-GENERAL - 0)(%rbp)
	mov	-8(%rbp), %rcx		/* r11, as the thunk pushed it */
	mov	%rcx, (-GENERAL - 8)(%rbp)
	mov	%r11, -8(%rbp)
	mov	%rdx, (-GENERAL - 16)(%rbp)
	mov	%rsi, (-GENERAL - 24)(%rbp)
	mov	%rdi, (-GENERAL - 32)(%rbp)
	mov	%r8, (-GENERAL - 40)(%rbp)
	mov	%r9, (-GENERAL - 48)(%rbp)
	mov	%r10, (-GENERAL - 56)(%rbp)
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	movaps	%xmm\n, (16 * \n)(%rsp)
	.endr
	mov	(-GENERAL - 0)(%rbp), %rcx
	call	*ARCH_PATCH_WRAPPER(%r11)
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	movaps	(16 * \n)(%rsp), %xmm\n
	.endr
	mov	(-GENERAL - 0)(%rbp), %rcx
	mov	(-GENERAL - 8)(%rbp), %r11
	mov	(-GENERAL - 16)(%rbp), %rdx
	mov	(-GENERAL - 24)(%rbp), %rsi
	mov	(-GENERAL - 32)(%rbp), %rdi
	mov	(-GENERAL - 40)(%rbp), %r8
	mov	(-GENERAL - 48)(%rbp), %r9
	mov	(-GENERAL - 56)(%rbp), %r10
	leave
	.cfi_def_cfa rsp, 8
	ret
	.cfi_endproc
	.size	arch_patch_entry_keeping, .-arch_patch_entry_keeping
	.section .note.GNU-stack,"",@progbits
