/*
 * entry.h (x86-64): how the functions that the program enters know who called
 * them. They keep a frame pointer, so that their caller's and the return
 * address lie where a call, and the first push, have put them: at fixed
 * distances from the stack pointer that their return leaves (ARCH_HOOK_*).
 */
#ifndef GNOMON_ARCH_ENTRY_H
#define GNOMON_ARCH_ENTRY_H

#ifdef __ASSEMBLER__

	/* Nothing has to come before them (entries.S). */
	.macro	entry name, alias, more
	.endm

#else

/* In the function itself, not in one that it calls. */
#define ARCH_CALLER_RA ((uintptr_t)__builtin_return_address(0))
#define ARCH_CALLER_SP ((uintptr_t)__builtin_dwarf_cfa())
#define ARCH_CALLER_FP (*(const uintptr_t *)__builtin_frame_address(0))

/* In the declaration of such a function, and in that of a hidden alias. */
#define ARCH_ENTRY(name)
#define ARCH_ENTRY_ALIAS(name) __attribute__((alias(#name)))

#endif
#endif
