/*
 * regs.h (x86-64): registers by their DWARF numbers (System V psABI, AMD64
 * supplement, figure 3.36) and the conventions of the stack.
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
	ARCH_REG_RAX, ARCH_REG_RDX, ARCH_REG_RCX, ARCH_REG_RBX,
	ARCH_REG_RSI, ARCH_REG_RDI, ARCH_REG_RBP, ARCH_REG_RSP,
	ARCH_REG_R8, ARCH_REG_R9, ARCH_REG_R10, ARCH_REG_R11,
	ARCH_REG_R12, ARCH_REG_R13, ARCH_REG_R14, ARCH_REG_R15,
	ARCH_REG_RA,
	ARCH_REG_COUNT,

	ARCH_REG_FP = ARCH_REG_RBP,
	ARCH_REG_SP = ARCH_REG_RSP,
	ARCH_REG_PC = ARCH_REG_RA
};

struct arch_regs {
	uint64_t r[ARCH_REG_COUNT];	/* by DWARF number */
};

/* The word below the CFA holds the return address: a call pushed it. */
#define ARCH_RA_OFFSET (-8)
#define ARCH_WORD 8

/*
 * A hook keeps a frame pointer, so two words of its caller's state are in
 * memory, at these distances from the stack pointer after the hook's return:
 * the caller's frame pointer, and the return address.
 */
#define ARCH_HOOK_FP (-16)
#define ARCH_HOOK_RA (-8)

/* Return addresses of user code lie below this. */
#define ARCH_ADDRESS_BITS 47
#define ARCH_ADDRESS_MAX ((UINT64_C(1) << ARCH_ADDRESS_BITS) - 1)

/* Instruction addresses are multiples of 1 << ARCH_CODE_SHIFT. */
#define ARCH_CODE_SHIFT 0
#define ARCH_INSTRUCTION (1u << ARCH_CODE_SHIFT)

/* Registers that a called function must preserve, as a mask. */
#define ARCH_CALLEE_SAVED                                                   \
	(1u << ARCH_REG_RBX | 1u << ARCH_REG_RBP | 1u << ARCH_REG_R12 |     \
	 1u << ARCH_REG_R13 | 1u << ARCH_REG_R14 | 1u << ARCH_REG_R15)

/*
 * A signal frame: after the handler's return (sp just after the return address
 * was popped) sp points to struct ucontext; the interrupted registers are in
 * uc_mcontext.gregs, which begins 40 bytes into it. Offsets of the registers
 * that a walk needs, in bytes from that sp. (asm/ucontext.h, asm/sigcontext.h)
 */
#define ARCH_SIGFRAME_FP 120
#define ARCH_SIGFRAME_SP 160
#define ARCH_SIGFRAME_PC 168

/* Fewer bytes than any signal frame takes on the stack: the red zone, 128
 * bytes, the kernel's struct rt_sigframe, 440, and at least 512 for the other
 * registers. */
#define ARCH_SIGFRAME_LEAST 1024

/* How near to the kernel's initial stack pointer the loader's entry calls
 * constructors: the alignment it applies. */
#define ARCH_START_BYTES 16

#define ARCH_AUDIT AUDIT_ARCH_X86_64	/* linux/audit.h: to filters */
#define ARCH_ELF_MACHINE 62	/* EM_X86_64 */
#define ARCH_NAME "x86_64"

#endif /* __ASSEMBLER__ */
#endif
