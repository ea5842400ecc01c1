/*
 * regs.h (AArch64): registers by their DWARF numbers (DWARF for the Arm 64-bit
 * Architecture, 4.1) and the conventions of the stack (Procedure Call Standard
 * for the Arm 64-bit Architecture).
 */
#ifndef GNOMON_ARCH_REGS_H
#define GNOMON_ARCH_REGS_H

/*
 * Return stubs (barriers.S): their number, size, and distance to their table
 * entries. Also for the assembler.
 */
#define ARCH_STUBS 4096
#define ARCH_STUB_BYTES 8
#define ARCH_STUB_DELTA (ARCH_STUBS * ARCH_STUB_BYTES)

#ifndef __ASSEMBLER__

#include <stdint.h>

enum {
	ARCH_REG_FP = 29,
	ARCH_REG_LR = 30,
	ARCH_REG_SP = 31,
	ARCH_REG_PC = 32,
	ARCH_REG_COUNT
};

struct arch_regs {
	uint64_t r[ARCH_REG_COUNT];	/* by DWARF number */
};

/* Where the hook's entry (entries.S) stores its caller's return address, in
 * bytes from the stack pointer after the hook's return. */
#define ARCH_RA_OFFSET (-8)
#define ARCH_WORD 8

/* The caller's frame record that the entries of hooks make: the frame pointer
 * and the return address. */
#define ARCH_HOOK_FP (-16)
#define ARCH_HOOK_RA (-8)

/*
 * Addresses of user code. Processes with 52-bit addresses have code above this
 * only if they request it by a hint. Higher bits of a return address are its
 * signature.
 */
#define ARCH_ADDRESS_BITS 48
#define ARCH_ADDRESS_MAX ((UINT64_C(1) << ARCH_ADDRESS_BITS) - 1)

/* Instruction addresses are multiples of 1 << ARCH_CODE_SHIFT. */
#define ARCH_CODE_SHIFT 2
#define ARCH_INSTRUCTION (1u << ARCH_CODE_SHIFT)

/* A called function must preserve x19 … x28 and the frame pointer. */
#define ARCH_CALLEE_SAVED (UINT32_C(0x3ff80000))

/*
 * A signal frame: at the handler's return, sp points to the kernel's struct
 * rt_sigframe (arch/arm64/kernel/signal.c): 128 bytes of siginfo, then struct
 * ucontext. Offsets of the registers that a walk needs, in bytes from that sp.
 */
#define ARCH_SIGFRAME_FP 544
#define ARCH_SIGFRAME_SP 560
#define ARCH_SIGFRAME_PC 568

/* Fewer bytes than any signal frame takes on the stack: struct rt_sigframe
 * alone has 4688. */
#define ARCH_SIGFRAME_LEAST 4096

/* DW_CFA_AARCH64_negate_ra_state: switches whether return addresses are
 * signed. */
#define ARCH_CFA_NEGATE_RA_STATE 0x2d

/* How near to the kernel's initial stack pointer the loader's entry calls
 * constructors: the alignment it applies. */
#define ARCH_START_BYTES 16

#define ARCH_AUDIT AUDIT_ARCH_AARCH64	/* linux/audit.h: to filters */
#define ARCH_ELF_MACHINE 183	/* EM_AARCH64 */
#define ARCH_NAME "aarch64"

#endif /* __ASSEMBLER__ */
#endif
