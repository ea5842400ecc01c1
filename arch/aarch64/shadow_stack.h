/*
 * shadow_stack.h (AArch64): the hardware shadow stack, called Guarded Control
 * Stack (Arm ARM, D11; Linux, Documentation/arch/arm64/gcs.rst). A call pushes
 * its return address there too; a return compares the two. The program can read
 * these pages like any others.
 */
#ifndef GNOMON_ARCH_SHADOW_STACK_H
#define GNOMON_ARCH_SHADOW_STACK_H

#include <stdint.h>

/*
 * Processors without GCS ignore CHKFEAT, a hint: bit 0 of x16 stays set.
 * Processors with GCS clear it if the thread has such a stack. Only then may
 * its pointer, GCSPR_EL0, be read.
 */
static inline uintptr_t arch_shadow_stack_pointer(void)
{
	register uint64_t features __asm__("x16") = 1;
	uintptr_t pointer;

	__asm__ volatile("hint #40" : "+r"(features));
	if (__builtin_expect(features & 1, 1))
		return 0;
	__asm__ volatile("mrs %0, s3_3_c2_c5_1" : "=r"(pointer));
	return pointer;
}

#endif
