/*
 * decode.h (x86-64): decodes the effect of instructions on a frame
 * (arch/operation.h), for code compiled without unwind tables. Instruction
 * lengths vary, so code can only be analysed forward, from a return address to
 * the function's return.
 *
 * Some writes to caller-saved registers are not recognised. All writes to
 * callee-saved registers and the stack pointer are.
 */
#ifndef GNOMON_ARCH_DECODE_H
#define GNOMON_ARCH_DECODE_H

#include "arch/operation.h"
#include "length.h"
#include "one_byte.h"
#include "regs.h"

#define ARCH_DECODES 1
#define ARCH_DECODES_BACK 0

/* The alignment of the stack pointer at calls, and of the CFA (System V psABI,
 * AMD64 supplement, 3.2.2). */
#define ARCH_STACK_ALIGN 16

/* The return address has no register except DWARF's virtual one. */
#define ARCH_REG_LR ARCH_REG_RA

/* There is one mode. */
static inline unsigned arch_code_mode(uintptr_t pc, bool exact)
{
	(void)pc;
	(void)exact;
	return 0;
}

/* ---- the other maps ---- */

/* Opcode map 0F, in legacy, VEX and EVEX encoding. */
static inline void x86_two_bytes(const struct x86_instruction *in,
				 uintptr_t next, struct arch_operation *o)
{
	switch (in->opcode) {
	case 0x01:		/* xgetbv and others */
	case 0x05:		/* syscall */
	case 0x31 ... 0x34:	/* rdtsc and others */
		o->mask |= X86_REGS_SYSCALL;
		break;
	case 0x0b:		/* ud2, ud1, ud0 */
	case 0xb9:
	case 0xff:
		o->kind = ARCH_OP_END;
		break;
	case 0x80 ... 0x8f:
		o->kind = ARCH_OP_BRANCH;
		o->target = next + (uintptr_t)in->immediate;
		break;
	case 0xa0:		/* push, pop of fs, gs */
	case 0xa8:
		x86_adjust_sp(o, -ARCH_WORD);
		break;
	case 0xa1:
	case 0xa9:
		x86_adjust_sp(o, ARCH_WORD);
		break;
	case 0xa2:		/* cpuid */
		o->mask |= X86_REGS_SYSCALL | X86_MASK(ARCH_REG_RBX);
		break;
	case 0x02:		/* lar, lsl */
	case 0x03:
	case 0x40 ... 0x4f:	/* cmov */
	case 0xaf:		/* imul */
	case 0xb2:		/* lss, lfs, lgs */
	case 0xb4 ... 0xb8:	/* movzx, popcnt */
	case 0xbc ... 0xbf:	/* bsf, bsr, movsx */
		if (in->vector)
			break;
		/* fall through */
	case 0x2c:		/* cvttss2si, cvtss2si */
	case 0x2d:
	case 0x50:		/* movmskps */
	case 0xc5:		/* pextrw */
	case 0xd7:		/* pmovmskb */
		x86_clobber_reg(in, o, false);
		break;
	case 0x93:		/* kmov */
		if (in->vector)
			x86_clobber_reg(in, o, false);
		break;
	case 0x78:		/* vcvttss2usi, vcvtss2usi */
	case 0x79:
		if (in->vector && in->repeat)
			x86_clobber_reg(in, o, false);
		break;
	case 0xc8 ... 0xcf:	/* bswap */
		x86_clobber(o, (in->opcode & 7u) | (in->rex << 3 & 8u));
		break;
	default:
		break;
	}
}

/* Instructions of map 0F that write their ModRM operand. */
static inline void x86_two_bytes_rm(const struct x86_instruction *in,
				    struct arch_operation *o)
{
	switch (in->opcode) {
	case 0x90 ... 0x9f:	/* setcc */
		if (!in->vector)
			x86_clobber_rm(in, o, true);
		break;
	case 0xb0:		/* cmpxchg */
	case 0xb1:
	case 0xc0:		/* xadd */
	case 0xc1:
		x86_clobber(o, 0);
		x86_clobber_rm(in, o, !(in->opcode & 1));
		if (in->opcode >= 0xc0)
			x86_clobber_reg(in, o, !(in->opcode & 1));
		break;
	case 0xc7:		/* cmpxchg8b, rdrand */
		o->mask |= X86_REGS_MULTIPLY;
		x86_clobber_rm(in, o, false);
		break;
	case 0x7e:		/* movd; movq between vectors */
		if (!in->repeat)
			x86_clobber_rm(in, o, false);
		break;
	case 0x1e:		/* rdssp; endbr and other no-ops */
		if (!in->vector && in->repeat == 0xf3 && (in->reg & 7) == 1)
			x86_clobber_rm(in, o, false);
		break;
	case 0x00:		/* sldt, str; smsw */
	case 0x01:
	case 0xa4:		/* shld, shrd */
	case 0xa5:
	case 0xac:
	case 0xad:
	case 0xab:		/* bts, btr, btc */
	case 0xb3:
	case 0xba:
	case 0xbb:
	case 0xae:		/* rdfsbase */
		if (!in->vector)
			x86_clobber_rm(in, o, false);
		break;
	default:
		break;
	}
}

/* Opcodes F0 to FF of map 0F38 that do not write their register operand. */
static inline bool x86_reads_reg(const struct x86_instruction *in)
{
	if (in->vector)
		return false;
	switch (in->opcode) {
	case 0xf1:		/* movbe to memory; crc32 */
		return in->repeat != 0xf2;
	case 0xf6:		/* wrss; adcx, adox */
		return !in->narrow && !in->repeat;
	case 0xf8:		/* movdir64b, enqcmd; urdmsr */
		return in->mod != 3;
	case 0xf5:		/* wruss */
	case 0xf9:		/* movdiri */
	case 0xfc:		/* aadd and others */
		return true;
	default:
		return false;
	}
}

/* Opcode maps 0F38 and 0F3A. */
static inline void x86_three_bytes(const struct x86_instruction *in,
				   struct arch_operation *o)
{
	if (in->map == X86_0F3A) {
		if (in->opcode >= 0x14 && in->opcode <= 0x17)	/* pextr */
			x86_clobber_rm(in, o, false);
		else if (in->opcode >= 0x60 && in->opcode <= 0x63)
			x86_clobber(o, 1);	/* pcmpistri */
		else if (in->opcode == 0xf0)	/* rorx */
			x86_clobber_reg(in, o, false);
	} else if (in->map == X86_0F38 && (in->opcode & 0xf0) == 0xf0) {
		/* crc32, movbe; andn, blsi, bzhi, mulx, shlx … */
		if (!x86_reads_reg(in))
			x86_clobber_reg(in, o, false);
		if (in->vector)
			x86_clobber(o, in->other);
		else if (in->opcode == 0xf8)	/* urdmsr */
			x86_clobber_rm(in, o, false);
	} else if (in->map == X86_0F38 && (in->opcode & 0xf0) == 0xe0) {
		if (in->vector)		/* cmpccxadd */
			x86_clobber_reg(in, o, false);
	} else if (in->map == X86_MAP5) {
		/* vcvtsh2si and similar */
		if (in->opcode == 0x2c || in->opcode == 0x2d ||
		    in->opcode == 0x78 || in->opcode == 0x79)
			x86_clobber_reg(in, o, false);
		else if (in->opcode == 0x7e)
			x86_clobber_rm(in, o, false);
	}
}

/*
 * Decodes the instruction at `code`, of which `room` bytes are readable. On
 * entry *o is zero except for its kind, ARCH_OP_END. *mode: from
 * arch_code_mode.
 */
static inline void arch_decode(const void *code, size_t room, unsigned *mode,
			       struct arch_operation *o)
{
	struct x86_instruction in = { .size = 0 };
	uintptr_t next;

	(void)mode;
	if (!x86_instruction(code, room, &in))
		return;
	next = (uintptr_t)code + in.size;
	o->size = in.size;
	o->kind = ARCH_OP_OTHER;
	if (in.map == X86_ONE) {
		x86_one_byte(&in, next, o);
	} else if (in.map == X86_0F) {
		x86_two_bytes(&in, next, o);
		x86_two_bytes_rm(&in, o);
	} else {
		x86_three_bytes(&in, o);
	}
	if (o->kind != ARCH_OP_OTHER && o->kind != ARCH_OP_LOAD &&
	    o->kind != ARCH_OP_STORE)
		o->mask = 0;
}

#endif
