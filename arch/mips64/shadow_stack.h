/* shadow_stack.h (MIPS64): no processor has a hardware shadow stack. */
#ifndef GNOMON_ARCH_SHADOW_STACK_H
#define GNOMON_ARCH_SHADOW_STACK_H

#include <stdint.h>

static inline uintptr_t arch_shadow_stack_pointer(void)
{
	return 0;
}

#endif
