/*
 * regs.h (MIPS64): registers by their DWARF numbers, which are those of the
 * processor, and the conventions of the stack (System V ABI, MIPS Processor
 * Supplement; MIPSpro N32 ABI Handbook, for n64 as well).
 */
#ifndef GNOMON_ARCH_REGS_H
#define GNOMON_ARCH_REGS_H

/*
 * Return stubs (barriers.S): their number, size, and distance to their table
 * entries, which a load's offset must reach. There is one more stub, which is
 * not used. Also for the assembler.
 */
#define ARCH_STUBS 2047
#define ARCH_STUB_BYTES 8
#define ARCH_STUB_DELTA ((ARCH_STUBS + 1) * ARCH_STUB_BYTES)

#ifndef __ASSEMBLER__

#include <stdint.h>

/* The program counter has no DWARF number; 32 is that of a caller-saved vector
 * register. */
enum {
	ARCH_REG_GP = 28,
	ARCH_REG_SP = 29,
	ARCH_REG_FP = 30,
	ARCH_REG_LR = 31,
	ARCH_REG_PC = 32,
	ARCH_REG_COUNT
};

struct arch_regs {
	uint64_t r[ARCH_REG_COUNT];	/* by DWARF number */
};

/* Where the hook's entry (entry.h) stores its caller's return address, in bytes
 * from the stack pointer after the hook's return. */
#define ARCH_RA_OFFSET (-8)
#define ARCH_WORD 8

/* The caller's frame record that the entries of hooks make: the frame pointer
 * and the return address. */
#define ARCH_HOOK_FP (-16)
#define ARCH_HOOK_RA (-8)

/* Compilers use $30 last of the callee-saved registers. */
#define ARCH_FP_LASTS 1

/* Addresses of user code: 40 bits, or 48 if the kernel is configured so. */
#define ARCH_ADDRESS_BITS 48
#define ARCH_ADDRESS_MAX ((UINT64_C(1) << ARCH_ADDRESS_BITS) - 1)

/* Instruction addresses are multiples of 1 << ARCH_CODE_SHIFT. */
#define ARCH_CODE_SHIFT 2
#define ARCH_INSTRUCTION (1u << ARCH_CODE_SHIFT)

/* A called function must preserve s0 … s7, gp and the frame pointer (s8). */
#define ARCH_CALLEE_SAVED (UINT32_C(0x50ff0000))

/*
 * A signal frame: at the handler's return, sp points to the kernel's struct
 * rt_sigframe (arch/mips/kernel/signal.c): 24 bytes that the 32-bit ABI needs,
 * siginfo, then struct ucontext, whose registers begin at its byte 40. Offsets
 * of the registers that a walk needs, in bytes from that sp.
 */
#define ARCH_SIGFRAME_FP 432
#define ARCH_SIGFRAME_SP 424
#define ARCH_SIGFRAME_PC 768

/* Fewer bytes than any signal frame takes on the stack: struct rt_sigframe has
 * 808. */
#define ARCH_SIGFRAME_LEAST 768

/* How near to the kernel's initial stack pointer the loader's entry calls
 * constructors: the alignment it applies, and a frame of 32 bytes. */
#define ARCH_START_BYTES 48

#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define ARCH_AUDIT AUDIT_ARCH_MIPS64	/* linux/audit.h: to filters */
#define ARCH_NAME "mips64"
#else
#define ARCH_AUDIT AUDIT_ARCH_MIPSEL64
#define ARCH_NAME "mips64el"
#endif
#define ARCH_ELF_MACHINE 8	/* EM_MIPS */

#endif /* __ASSEMBLER__ */
#endif
