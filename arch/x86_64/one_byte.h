/*
 * one_byte.h (x86-64): decodes the effect of one-byte opcodes on a frame, and
 * register numbers, pushes and pops (decode.h).
 */
#ifndef GNOMON_ARCH_ONE_BYTE_H
#define GNOMON_ARCH_ONE_BYTE_H

#include "arch/operation.h"
#include "length.h"
#include "regs.h"

/* The DWARF number of a register from its number in instructions. */
static inline uint8_t x86_dwarf(unsigned number)
{
	static const uint8_t of[8] = {
		ARCH_REG_RAX, ARCH_REG_RCX, ARCH_REG_RDX, ARCH_REG_RBX,
		ARCH_REG_RSP, ARCH_REG_RBP, ARCH_REG_RSI, ARCH_REG_RDI
	};

	return (uint8_t)(number < 8 ? of[number] : number);
}

#define X86_MASK(reg) (UINT64_C(1) << (reg))
#define X86_REGS_MULTIPLY (X86_MASK(ARCH_REG_RAX) | X86_MASK(ARCH_REG_RDX))
#define X86_REGS_STRING                                                      \
	(X86_MASK(ARCH_REG_RAX) | X86_MASK(ARCH_REG_RCX) |                   \
	 X86_MASK(ARCH_REG_RSI) | X86_MASK(ARCH_REG_RDI))
/* A system call may write these. */
#define X86_REGS_SYSCALL                                                     \
	(X86_REGS_MULTIPLY | X86_MASK(ARCH_REG_RCX) | X86_MASK(ARCH_REG_R11))

/* ---- clobbered registers: their new value is unknown ---- */

static inline void x86_clobber(struct arch_operation *o, unsigned number)
{
	o->mask |= X86_MASK(x86_dwarf(number));
}

/* The register of a one-byte operand: without REX, 4 to 7 are the second bytes
 * of 0 to 3. */
static inline unsigned x86_byte_register(const struct x86_instruction *in,
					 unsigned number)
{
	return in->has_rex || number > 7 ? number : number & 3;
}

static inline void x86_clobber_reg(const struct x86_instruction *in,
				   struct arch_operation *o, bool byte)
{
	x86_clobber(o, byte ? x86_byte_register(in, in->reg) : in->reg);
}

static inline void x86_clobber_rm(const struct x86_instruction *in,
				  struct arch_operation *o, bool byte)
{
	if (in->mod == 3)
		x86_clobber(o, byte ? x86_byte_register(in, in->rm) : in->rm);
}

/* ---- the stack and addresses ---- */

static inline void x86_add(struct arch_operation *o, uint8_t d, uint8_t a,
			   int64_t value)
{
	o->kind = ARCH_OP_ADD;
	o->d = d;
	o->a = a;
	o->value = value;
}

static inline void x86_set(struct arch_operation *o, unsigned number,
			   int64_t value)
{
	o->kind = ARCH_OP_SET;
	o->d = x86_dwarf(number);
	o->value = value;
}

static inline void x86_access(struct arch_operation *o, bool load, uint8_t base,
			      int64_t value, uint8_t reg)
{
	o->kind = load ? ARCH_OP_LOAD : ARCH_OP_STORE;
	o->a = base;
	o->value = value;
	o->mask = X86_MASK(reg);
}

/* A push of a value that is in no register; a pop to memory. */
static inline void x86_adjust_sp(struct arch_operation *o, int64_t value)
{
	x86_add(o, ARCH_REG_SP, ARCH_REG_SP, value);
}

static inline void x86_push(struct arch_operation *o, unsigned number)
{
	x86_access(o, false, ARCH_REG_SP, -ARCH_WORD, x86_dwarf(number));
	o->step = -ARCH_WORD;
}

static inline void x86_pop(struct arch_operation *o, unsigned number)
{
	uint8_t reg = x86_dwarf(number);

	if (reg == ARCH_REG_SP) {
		o->mask = X86_MASK(reg);
		return;
	}
	x86_access(o, true, ARCH_REG_SP, 0, reg);
	o->step = ARCH_WORD;
}

/* A return; or a jump through a register or memory. That is a tail call, which
 * acts like a return, or a switch: there the stack is not aligned as at a
 * function's end (ARCH_STACK_ALIGN). */
static inline void x86_return(struct arch_operation *o)
{
	x86_access(o, true, ARCH_REG_SP, 0, ARCH_REG_PC);
	o->step = ARCH_WORD;
}

/* Whether the operand is a base and an offset. */
static inline bool x86_is_plain(const struct x86_instruction *in)
{
	return in->based && !in->indexed && !in->segment &&
	       !in->short_address;
}

/* ---- the one-byte opcode map ---- */

/* add, or, adc, sbb, and, sub, xor, cmp: selected by bits of the opcode. */
static inline void x86_arithmetic(const struct x86_instruction *in,
				  struct arch_operation *o)
{
	unsigned operation = in->opcode >> 3 & 7, form = in->opcode & 7;
	bool to_reg = form == 2 || form == 3;

	if (operation == 7)
		return;
	if (form >= 4)
		x86_clobber(o, 0);
	else if (to_reg)
		x86_clobber_reg(in, o, form == 2);
	else
		x86_clobber_rm(in, o, form == 0);
	if ((operation != 0 && operation != 5) || (form != 1 && form != 3) ||
	    in->mod != 3 || !(in->rex & 8))
		return;
	o->kind = operation ? ARCH_OP_DIFFERENCE : ARCH_OP_SUM;
	o->d = o->a = x86_dwarf(to_reg ? in->reg : in->rm);
	o->b = x86_dwarf(to_reg ? in->rm : in->reg);
}

/* The same with an immediate: 80, 81, 83. */
static inline void x86_with_immediate(const struct x86_instruction *in,
				      struct arch_operation *o)
{
	unsigned operation = in->reg & 7;

	if (operation == 7)
		return;
	x86_clobber_rm(in, o, in->opcode == 0x80);
	if ((operation == 0 || operation == 5) && in->mod == 3 && in->rex & 8 &&
	    in->opcode != 0x80)
		x86_add(o, x86_dwarf(in->rm), x86_dwarf(in->rm),
			operation ? -in->immediate : in->immediate);
}

static inline void x86_move(const struct x86_instruction *in,
			    struct arch_operation *o)
{
	bool to_reg = in->opcode & 2, byte = !(in->opcode & 1);
	uint8_t reg = x86_dwarf(in->reg), rm = x86_dwarf(in->rm);

	if (to_reg)
		x86_clobber_reg(in, o, byte);
	else
		x86_clobber_rm(in, o, byte);
	if (byte || !(in->rex & 8))
		return;
	if (in->mod == 3)
		x86_add(o, to_reg ? reg : rm, to_reg ? rm : reg, 0);
	else if (x86_is_plain(in))
		x86_access(o, to_reg, rm, in->displacement, reg);
}

static inline void x86_load_address(const struct x86_instruction *in,
				    struct arch_operation *o)
{
	x86_clobber_reg(in, o, false);
	if (in->rex & 8 && x86_is_plain(in))
		x86_add(o, x86_dwarf(in->reg), x86_dwarf(in->rm),
			in->displacement);
}

/* F6, F7 */
static inline void x86_group_3(const struct x86_instruction *in,
			       struct arch_operation *o)
{
	unsigned operation = in->reg & 7;

	if (operation >= 4)
		o->mask |= X86_REGS_MULTIPLY;
	else if (operation >= 2)
		x86_clobber_rm(in, o, in->opcode == 0xf6);
}

/* FE, FF (groups 4 and 5) */
static inline void x86_group_5(const struct x86_instruction *in,
			       struct arch_operation *o)
{
	switch (in->reg & 7) {
	case 0:			/* inc, dec */
	case 1:
		x86_clobber_rm(in, o, in->opcode == 0xfe);
		break;
	case 2:
		o->kind = ARCH_OP_CALL;
		break;
	case 4:
		x86_return(o);
		break;
	case 6:
		if (in->mod == 3)
			x86_push(o, in->rm);
		else
			x86_adjust_sp(o, -ARCH_WORD);
		break;
	default:		/* far calls and jumps */
		o->kind = ARCH_OP_END;
	}
}

/* Jumps, calls and returns. False: none of these. */
static inline bool x86_control_flow(const struct x86_instruction *in,
				    uintptr_t next, struct arch_operation *o)
{
	o->target = next + (uintptr_t)in->immediate;
	switch (in->opcode) {
	case 0x70 ... 0x7f:
	case 0xe0 ... 0xe3:
		o->kind = ARCH_OP_BRANCH;
		return true;
	case 0xe9:
	case 0xeb:
		o->kind = ARCH_OP_JUMP;
		return true;
	case 0xe8:
		o->kind = ARCH_OP_CALL;
		return true;
	case 0xc2:
	case 0xc3:
		x86_return(o);
		return true;
	case 0xca:		/* far returns, int3, iret, int1, hlt */
	case 0xcb:
	case 0xcc:
	case 0xcf:
	case 0xf1:
	case 0xf4:
		o->kind = ARCH_OP_END;
		return true;
	default:
		o->target = 0;
		return false;
	}
}

static inline bool x86_stack_operation(const struct x86_instruction *in,
				       struct arch_operation *o)
{
	switch (in->opcode) {
	case 0x50 ... 0x57:
		x86_push(o, (in->opcode & 7) | (in->rex << 3 & 8));
		break;
	case 0x58 ... 0x5f:
		x86_pop(o, (in->opcode & 7) | (in->rex << 3 & 8));
		break;
	case 0x68:
	case 0x6a:
	case 0x9c:		/* pushf */
		x86_adjust_sp(o, -ARCH_WORD);
		break;
	case 0x9d:		/* popf */
		x86_adjust_sp(o, ARCH_WORD);
		break;
	case 0x8f:
		if (in->mod == 3)
			x86_pop(o, in->rm);
		else
			x86_adjust_sp(o, ARCH_WORD);
		break;
	case 0xc8:		/* enter */
		o->mask = X86_MASK(ARCH_REG_SP) | X86_MASK(ARCH_REG_FP);
		break;
	case 0xc9:
		o->kind = ARCH_OP_UNFRAME;
		o->a = ARCH_REG_FP;
		break;
	default:
		return false;
	}
	/* 16-bit pushes and pops: compilers do not emit them */
	if (in->narrow)
		*o = (struct arch_operation){ .kind = ARCH_OP_OTHER,
					      .size = o->size,
					      .mask = X86_MASK(ARCH_REG_SP) };
	return true;
}

static inline void x86_constant(const struct x86_instruction *in,
				struct arch_operation *o)
{
	unsigned number = in->opcode == 0xc7 ? in->rm :
			  (in->opcode & 7u) | (in->rex << 3 & 8u);

	if (in->opcode == 0xc7 && in->mod != 3)
		return;
	x86_clobber(o, number);
	if (!in->narrow)
		x86_set(o, number, in->rex & 8 ? in->immediate :
						 (uint32_t)in->immediate);
}

/* xchg: with a ModRM byte, or of rax with the opcode's register */
static inline void x86_exchange(const struct x86_instruction *in,
				struct arch_operation *o)
{
	if (in->has_modrm) {
		x86_clobber_reg(in, o, in->opcode == 0x86);
		x86_clobber_rm(in, o, in->opcode == 0x86);
	} else if (in->opcode != 0x90 || in->rex & 1) {
		x86_clobber(o, 0);
		x86_clobber(o, (in->opcode & 7u) | (in->rex << 3 & 8u));
	}
}

static inline void x86_one_byte(const struct x86_instruction *in,
				uintptr_t next, struct arch_operation *o)
{
	if (x86_control_flow(in, next, o) || x86_stack_operation(in, o))
		return;
	switch (in->opcode) {
	case 0x00 ... 0x3f:
		x86_arithmetic(in, o);
		break;
	case 0x63:		/* movslq, imul */
	case 0x69:
	case 0x6b:
		x86_clobber_reg(in, o, false);
		break;
	case 0x80 ... 0x83:
		x86_with_immediate(in, o);
		break;
	case 0x86:
	case 0x87:
	case 0x90 ... 0x97:
		x86_exchange(in, o);
		break;
	case 0x88 ... 0x8b:
		x86_move(in, o);
		break;
	case 0x8d:
		x86_load_address(in, o);
		break;
	case 0x98:		/* cltq, cqto */
	case 0x99:
	case 0x9f:		/* lahf */
	case 0xa0:
	case 0xa1:
	case 0xdf:		/* fnstsw */
	case 0xe4 ... 0xe7:	/* in, out */
	case 0xec ... 0xef:
		o->mask |= X86_REGS_MULTIPLY;
		break;
	case 0x6c ... 0x6f:
	case 0xa4 ... 0xa7:
	case 0xaa ... 0xaf:
		o->mask |= X86_REGS_STRING;
		break;
	case 0xb8 ... 0xbf:
	case 0xc7:
		x86_constant(in, o);
		break;
	case 0xb0 ... 0xb7:
		x86_clobber(o, x86_byte_register(in, (in->opcode & 7u) |
							    (in->rex << 3 & 8u)));
		break;
	case 0x8c:
	case 0xc0:
	case 0xc1:
	case 0xc6:
	case 0xd0 ... 0xd3:
		x86_clobber_rm(in, o, in->opcode != 0x8c && !(in->opcode & 1));
		break;
	case 0xf6:
	case 0xf7:
		x86_group_3(in, o);
		break;
	case 0xfe:
	case 0xff:
		x86_group_5(in, o);
		break;
	default:
		break;
	}
}

#endif
