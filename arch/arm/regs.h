/*
 * regs.h (ARM): registers by their DWARF numbers (DWARF for the Arm
 * Architecture, 4.1) and the conventions of the stack (Procedure Call Standard
 * for the Arm Architecture).
 */
#ifndef GNOMON_ARCH_REGS_H
#define GNOMON_ARCH_REGS_H

/*
 * Return stubs (barriers.S): their number, size, and the distance from the
 * first one to their table. Also for the assembler.
 */
#define ARCH_STUBS 4096
#define ARCH_STUB_BYTES 8
#define ARCH_STUB_DELTA (ARCH_STUBS * ARCH_STUB_BYTES)

/*
 * The record that the entries of hooks make below the stack pointer after the
 * hook's return: the caller's frame pointer, the return address, and the return
 * address with the Thumb bit. Then room for arguments (entry.h). Also for the
 * assembler.
 */
#define ARCH_RECORD_BYTES 12
#define ARCH_ENTRY_ROOM 20

#ifndef __ASSEMBLER__

#include <stdint.h>

/* The frame pointer of Thumb code, which compilers emit by default; ARM code
 * uses r11. */
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

/* Where the hook's entry stores its caller's return address, in bytes from the
 * stack pointer after the hook's return. */
#define ARCH_RA_OFFSET (-8)
#define ARCH_WORD 4

/* The caller's frame pointer and the return address, in that record. */
#define ARCH_HOOK_FP (-12)
#define ARCH_HOOK_RA (-8)

#define ARCH_ADDRESS_BITS 32
#define ARCH_ADDRESS_MAX UINT32_MAX

/* Instruction addresses are multiples of 1 << ARCH_CODE_SHIFT. */
#define ARCH_CODE_SHIFT 1
#define ARCH_INSTRUCTION (1u << ARCH_CODE_SHIFT)

/* A called function must preserve r4 … r11. */
#define ARCH_CALLEE_SAVED UINT32_C(0xff0)

/*
 * A signal frame: at the handler's return, sp points to the kernel's struct
 * rt_sigframe (arch/arm/kernel/signal.h): 128 bytes of siginfo, then struct
 * ucontext; or, for a handler without siginfo, directly to struct ucontext.
 * Offsets of the registers that a walk needs, in bytes from that sp, for the
 * first kind.
 */
#define ARCH_SIGFRAME_FP 188
#define ARCH_SIGFRAME_SP 212
#define ARCH_SIGFRAME_PC 220

/* Fewer bytes than any signal frame takes on the stack: struct ucontext alone
 * has 744. */
#define ARCH_SIGFRAME_LEAST 512

/* How near to the kernel's initial stack pointer the loader's entry calls
 * constructors: the alignment it applies. */
#define ARCH_START_BYTES 16

#define ARCH_AUDIT AUDIT_ARCH_ARM	/* linux/audit.h: to filters */
#define ARCH_ELF_MACHINE 40	/* EM_ARM */
#define ARCH_ELF_EXIDX 0x70000001	/* PT_ARM_EXIDX */
#define ARCH_NAME "arm"

#endif /* __ASSEMBLER__ */
#endif
