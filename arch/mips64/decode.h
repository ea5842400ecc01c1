/*
 * decode.h (MIPS64): decodes the effect of instructions on a frame
 * (arch/operation.h), up to release 5 of the architecture (MIPS64 Architecture
 * for Programmers, volume II). Compilers emit no unwind tables for plain C.
 * Branches of release 6, which have no delay slot, count as invalid.
 */
#ifndef GNOMON_ARCH_DECODE_H
#define GNOMON_ARCH_DECODE_H

#include "arch/operation.h"
#include "regs.h"

#define ARCH_DECODES 1

/* Registers that a CFA may be relative to. */
#define ARCH_FRAME_BASES                                                     \
	(UINT32_C(1) << ARCH_REG_SP | UINT32_C(1) << ARCH_REG_FP)

/* There is one mode. */
static inline unsigned arch_code_mode(uintptr_t pc, bool exact)
{
	(void)pc;
	(void)exact;
	return 0;
}

struct mips_fields {
	uintptr_t pc;
	unsigned op, rs, rt, rd, shift, function;
	int16_t immediate;
};

/* A system call may write all caller-saved registers. */
#define MIPS_OF_CALLS (UINT64_C(0xfffffffe) & ~(uint64_t)ARCH_CALLEE_SAVED & \
		       ~(UINT64_C(1) << ARCH_REG_SP) & \
		       ~(UINT64_C(1) << ARCH_REG_LR))

static inline void mips_writes(struct arch_operation *o, unsigned reg)
{
	o->kind = ARCH_OP_OTHER;
	o->mask = (UINT64_C(1) << reg) & ~UINT64_C(1);
}

/* d = a + value, where register 0 is zero. */
static inline void mips_add(struct arch_operation *o, unsigned d, unsigned a,
			    int64_t value)
{
	mips_writes(o, d);
	if (d == 0)
		return;
	o->kind = a ? ARCH_OP_ADD : ARCH_OP_SET;
	o->d = (uint8_t)d;
	o->a = (uint8_t)a;
	o->value = value;
}

static inline void mips_branch(const struct mips_fields *f, bool always,
			       bool likely, struct arch_operation *o)
{
	o->kind = always ? ARCH_OP_JUMP : ARCH_OP_BRANCH;
	o->delayed = true;
	o->annuls = likely && !always;
	o->target = f->pc + 4 + (uintptr_t)((intptr_t)f->immediate * 4);
}

static inline void mips_leave(const struct mips_fields *f, bool calls,
			      struct arch_operation *o)
{
	o->kind = calls ? ARCH_OP_CALL : ARCH_OP_LEAVE;
	o->a = (uint8_t)f->rs;
	o->delayed = true;
}

/* 64-bit additions and subtractions, and moves, which are one of them. */
static inline void mips_arithmetic(const struct mips_fields *f,
				   struct arch_operation *o)
{
	bool minus = f->function == 0x2e || f->function == 0x2f;

	if (f->rt == 0 || (f->rs == 0 && !minus)) {
		mips_add(o, f->rd, f->rt ? f->rt : f->rs, 0);
		return;
	}
	mips_writes(o, f->rd);
	if (f->function == 0x25 || f->rs == 0 || f->rd == 0)
		return;
	o->kind = minus ? ARCH_OP_DIFFERENCE : ARCH_OP_SUM;
	o->d = (uint8_t)f->rd;
	o->a = (uint8_t)f->rs;
	o->b = (uint8_t)f->rt;
}

static inline void mips_special(const struct mips_fields *f,
				struct arch_operation *o)
{
	switch (f->function) {
	case 0x08:		/* jr */
		mips_leave(f, false, o);
		break;
	case 0x09:		/* jalr */
		mips_leave(f, f->rd != 0, o);
		break;
	case 0x0c:		/* syscall */
		o->mask = MIPS_OF_CALLS;
		break;
	case 0x0d:		/* break */
		o->kind = ARCH_OP_END;
		break;
	case 0x25:		/* or */
	case 0x2c:		/* dadd, daddu, dsub, dsubu */
	case 0x2d:
	case 0x2e:
	case 0x2f:
		mips_arithmetic(f, o);
		break;
	default:
		/* in traps (0x30 to 0x36) these bits are the trap's code */
		mips_writes(o, f->function >= 0x30 && f->function <= 0x36 ?
				       0 : f->rd);
	}
}

static inline void mips_regimm(const struct mips_fields *f,
			       struct arch_operation *o)
{
	if ((f->rt & 0x1c) == 0x00) {		/* bltz, bgez, likely */
		mips_branch(f, f->rs == 0 && f->rt == 1, f->rt & 2, o);
	} else if ((f->rt & 0x1c) == 0x10) {	/* the same, as calls */
		o->kind = ARCH_OP_CALL;
		o->delayed = true;
	}
}

static inline void mips_special3(const struct mips_fields *f,
				 struct arch_operation *o)
{
	mips_writes(o, f->function == 0x20 || f->function == 0x24 ||
			       f->function == 0x0a ? f->rd : f->rt);
}

static inline void mips_coprocessor(const struct mips_fields *f,
				    struct arch_operation *o)
{
	if (f->rs == 8)			/* bc1f, bc1t, likely */
		mips_branch(f, false, f->rt & 2, o);
	else if (f->rs < 4)		/* mfc1, dmfc1, cfc1, mfhc1 */
		mips_writes(o, f->rt);
}

static inline void mips_memory(const struct mips_fields *f,
			       struct arch_operation *o)
{
	switch (f->op) {
	case 0x37:		/* ld */
	case 0x3f:		/* sd */
		if (f->op == 0x37 && f->rt == 0)
			break;
		o->kind = f->op == 0x37 ? ARCH_OP_LOAD : ARCH_OP_STORE;
		o->a = (uint8_t)f->rs;
		o->value = f->immediate;
		o->mask = UINT64_C(1) << f->rt;
		break;
	case 0x20 ... 0x27:	/* lb, lh, lwl, lw, lbu, lhu, lwr, lwu */
	case 0x30:		/* ll */
	case 0x34:		/* lld */
	case 0x38:		/* sc */
	case 0x3c:		/* scd */
	case 0x1a:		/* ldl, ldr */
	case 0x1b:
		mips_writes(o, f->rt);
		break;
	case 0x28 ... 0x2f:	/* sb, sh, swl, sw, sdl, sdr, swr, cache */
	case 0x31:		/* lwc1, ldc1, swc1, sdc1 */
	case 0x35:
	case 0x39:
	case 0x3d:
	case 0x33:		/* pref */
		break;
	default:
		o->kind = ARCH_OP_END;
	}
}

static inline void mips_immediate(const struct mips_fields *f,
				  struct arch_operation *o)
{
	switch (f->op) {
	case 0x09:		/* addiu: constants only */
		if (f->rs == 0)
			mips_add(o, f->rt, 0, f->immediate);
		else
			mips_writes(o, f->rt);
		break;
	case 0x0d:		/* ori: the lower half of a constant */
		mips_add(o, f->rt, f->rs, (uint16_t)f->immediate);
		break;
	case 0x0f:		/* lui */
		mips_add(o, f->rt, f->rs, (int64_t)f->immediate * 65536);
		break;
	case 0x18:		/* daddi, daddiu */
	case 0x19:
		mips_add(o, f->rt, f->rs, f->immediate);
		break;
	default:		/* addi, slti, sltiu, andi, xori */
		mips_writes(o, f->rt);
	}
}

static inline void mips_jump(const struct mips_fields *f, uint32_t word,
			     struct arch_operation *o)
{
	o->kind = f->op == 2 ? ARCH_OP_JUMP : ARCH_OP_CALL;
	o->delayed = true;
	o->target = ((f->pc + 4) & ~(uintptr_t)0x0fffffff) |
		    (word & 0x03ffffff) << 2;
}

/*
 * Decodes the instruction at `code`, of which `room` bytes are readable. On
 * entry *o is zero except for its kind, ARCH_OP_END. *mode: from
 * arch_code_mode.
 */
static inline void arch_decode(const void *code, size_t room, unsigned *mode,
			       struct arch_operation *o)
{
	struct mips_fields f;
	uint32_t word;

	(void)mode;
	if (room < 4 || (uintptr_t)code % 4)
		return;
	word = *(const uint32_t *)code;
	f = (struct mips_fields){
		.pc = (uintptr_t)code, .op = word >> 26, .rs = word >> 21 & 31,
		.rt = word >> 16 & 31, .rd = word >> 11 & 31,
		.shift = word >> 6 & 31, .function = word & 63,
		.immediate = (int16_t)word,
	};
	o->size = 4;
	o->kind = ARCH_OP_OTHER;
	if (f.op == 0)
		mips_special(&f, o);
	else if (f.op == 1)
		mips_regimm(&f, o);
	else if (f.op == 2 || f.op == 3)
		mips_jump(&f, word, o);
	else if (f.op < 8 || (f.op >= 0x14 && f.op < 0x18))
		/* beq, bne, blez, bgtz, likely */
		mips_branch(&f, !(f.op & 3) && f.rs == f.rt, f.op & 0x10, o);
	else if (f.op < 0x10 || f.op == 0x18 || f.op == 0x19)
		mips_immediate(&f, o);
	else if (f.op == 0x11)
		mips_coprocessor(&f, o);
	else if (f.op == 0x1c)		/* mul, clz … */
		mips_writes(o, f.rd);
	else if (f.op == 0x1e)		/* MSA: copies to a register */
		mips_writes(o, f.shift);
	else if (f.op == 0x1f)
		mips_special3(&f, o);
	else if (f.op != 0x10 && f.op != 0x12 && f.op != 0x13)
		mips_memory(&f, o);
}

#endif
