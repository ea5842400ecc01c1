/*
 * entry.h (x86-64): how hooks find their caller. Hooks keep a frame pointer:
 * the caller's frame pointer and the return address then lie where the call and
 * the first push have put them, at fixed distances from the stack pointer after
 * the hook's return (ARCH_HOOK_*).
 */
#ifndef GNOMON_ARCH_ENTRY_H
#define GNOMON_ARCH_ENTRY_H

#ifdef __ASSEMBLER__

	/* Hooks need no entry in assembler (entries.S). */
	.macro	entry name, alias, more
	.endm

#else

/* Only in the hook itself, not in a function that it calls. */
#define ARCH_CALLER_RA ((uintptr_t)__builtin_return_address(0))
#define ARCH_CALLER_SP ((uintptr_t)__builtin_dwarf_cfa())
#define ARCH_CALLER_FP (*(const uintptr_t *)__builtin_frame_address(0))

/* For the declaration of a hook, and of its hidden alias. */
#define ARCH_ENTRY(name)
#define ARCH_ENTRY_ALIAS(name) __attribute__((alias(#name)))

#endif
#endif
