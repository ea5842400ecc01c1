/*
 * shadow_stack.h (x86-64): the hardware shadow stack of Control-flow Enforcement
 * Technology (Intel SDM volume 1, chapter 17; Linux, Documentation/arch/x86/
 * shstk.rst). A call pushes its return address there too; a return compares the
 * two. The program can read these pages like any others.
 */
#ifndef GNOMON_ARCH_SHADOW_STACK_H
#define GNOMON_ARCH_SHADOW_STACK_H

#include <stdint.h>

/* When the kernel delivers a signal, it pushes the previous hardware shadow
 * stack pointer with this bit set. */
#define ARCH_SHADOW_DATA (UINT64_C(1) << 63)

/* RDSSPQ is a hint instruction: a processor without CET, or a thread without a
 * hardware shadow stack, ignores it, and rax stays 0. */
static inline uintptr_t arch_shadow_stack_pointer(void)
{
	uintptr_t pointer;

	__asm__ volatile("xor %%eax, %%eax\n\t"
			 ".byte 0xf3, 0x48, 0x0f, 0x1e, 0xc8" /* rdsspq rax */
			 : "=a"(pointer)
			 :
			 : "cc");
	return pointer;
}

#endif
