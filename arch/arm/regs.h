/*
 * regs.h (ARM): registers by their DWARF numbers (DWARF for the Arm
 * Architecture, 4.1) and the conventions of the stack (Procedure Call Standard
 * for the Arm Architecture).
 */
#ifndef GNOMON_ARCH_REGS_H
#define GNOMON_ARCH_REGS_H

/*
 * Return stubs (barriers.S): how many, how far apart, and how far behind the
 * first one their table lies. Also for the assembler.
 */
#define ARCH_STUBS 4096
#define ARCH_STUB_BYTES 8
#define ARCH_STUB_DELTA (ARCH_STUBS * ARCH_STUB_BYTES)

/*
 * What the entries of hooks put below the stack pointer that their return will
 * leave: the caller's frame pointer, the address that they return to, and the
 * return address as it came, with the bit that says which instructions are
 * there. Then room for arguments (entry.h). Also for the assembler.
 */
#define ARCH_RECORD_BYTES 12
#define ARCH_ENTRY_ROOM 20

#ifndef __ASSEMBLER__

#include <stdint.h>

/* The frame pointer is that of Thumb code, which compilers make unless they are
 * asked for the other kind; that has r11. */
enum {
	ARCH_REG_FP = 7,
	ARCH_REG_SP = 13,
	ARCH_REG_LR = 14,
	ARCH_REG_PC = 15,
	ARCH_REG_COUNT
};

struct arch_regs {
	uint64_t r[ARCH_REG_COUNT];	/* by DWARF number */
};

/* Where the hook's entry has put its caller's return address, in bytes from the
 * stack pointer that its return will leave. */
#define ARCH_RA_OFFSET (-8)
#define ARCH_WORD 4

/* The caller's frame pointer and the return address, as the entries of hooks
 * keep them. */
#define ARCH_HOOK_FP (-12)
#define ARCH_HOOK_RA (-8)

#define ARCH_ADDRESS_BITS 32
#define ARCH_ADDRESS_MAX UINT32_MAX

/* What the address of an instruction is a multiple of: 1 << ARCH_CODE_SHIFT. */
#define ARCH_CODE_SHIFT 1
#define ARCH_INSTRUCTION (1u << ARCH_CODE_SHIFT)

/* A called function must preserve r4 … r11. */
#define ARCH_CALLEE_SAVED UINT32_C(0xff0)

/*
 * A signal frame: at the handler's return, sp points to the kernel's struct
 * rt_sigframe (arch/arm/kernel/signal.h): 128 bytes of siginfo, then struct
 * ucontext; or, of a handler that wanted no siginfo, to the latter at once.
 * Offsets of what a walk needs, in bytes from that sp, of the first kind.
 */
#define ARCH_SIGFRAME_FP 188
#define ARCH_SIGFRAME_SP 212
#define ARCH_SIGFRAME_PC 220

/* Fewer bytes than any signal frame takes of the stack: struct ucontext alone
 * has 744. */
#define ARCH_SIGFRAME_LEAST 512

/* The loader's entry calls constructors with the stack pointer this near to
 * where the kernel put it: what that aligns it by. */
#define ARCH_START_BYTES 16

#define ARCH_AUDIT AUDIT_ARCH_ARM	/* linux/audit.h: to filters */
#define ARCH_ELF_MACHINE 40	/* EM_ARM */
#define ARCH_ELF_EXIDX 0x70000001	/* PT_ARM_EXIDX */
#define ARCH_NAME "arm"

#endif /* __ASSEMBLER__ */
#endif
