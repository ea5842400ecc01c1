/*
 * machine_x86_64.c: decodes x86-64 instructions (psABI 1.0, 3.2 and 3.6.2) with
 * Capstone. For instructions that Capstone 4 does not know (AVX-512, shadow
 * stacks), it finds the length itself.
 */
#include "cli/symbol/cfi/machine.h"

#include <elf.h>

enum { RAX, RDX, RCX, RBX, RSI, RDI, RBP, RSP, R8, R11 = 11, R12, R13, R14,
       R15, RA };
#define WORD 8

/* The opcode 0f b9, whose name in Capstone changed with version 5. */
#if CS_API_MAJOR >= 5
#define UD1 X86_INS_UD1
#else
#define UD1 X86_INS_UD2B
#endif

/* Registers in the order of instruction encodings. */
static const uint8_t encoded[] = { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI };

/* Register by Capstone's number, for any width. */
static int number_of(unsigned reg)
{
	static const uint8_t wide[] = {
		X86_REG_RAX, X86_REG_RDX, X86_REG_RCX, X86_REG_RBX,
		X86_REG_RSI, X86_REG_RDI, X86_REG_RBP, X86_REG_RSP,
		X86_REG_R8, X86_REG_R9, X86_REG_R10, X86_REG_R11, X86_REG_R12,
		X86_REG_R13, X86_REG_R14, X86_REG_R15 };

	for (unsigned i = 0; i < sizeof(wide); i++)
		if (reg == wide[i])
			return (int)i;
	return -1;
}

static int any_number_of(unsigned reg)
{
	static const uint8_t low[][8] = {
		{ X86_REG_EAX, X86_REG_AX, X86_REG_AL, X86_REG_AH },
		{ X86_REG_EDX, X86_REG_DX, X86_REG_DL, X86_REG_DH },
		{ X86_REG_ECX, X86_REG_CX, X86_REG_CL, X86_REG_CH },
		{ X86_REG_EBX, X86_REG_BX, X86_REG_BL, X86_REG_BH },
		{ X86_REG_ESI, X86_REG_SI, X86_REG_SIL },
		{ X86_REG_EDI, X86_REG_DI, X86_REG_DIL },
		{ X86_REG_EBP, X86_REG_BP, X86_REG_BPL },
		{ X86_REG_ESP, X86_REG_SP, X86_REG_SPL } };
	static const uint8_t high[][3] = {
		{ X86_REG_R8D, X86_REG_R8W, X86_REG_R8B },
		{ X86_REG_R9D, X86_REG_R9W, X86_REG_R9B },
		{ X86_REG_R10D, X86_REG_R10W, X86_REG_R10B },
		{ X86_REG_R11D, X86_REG_R11W, X86_REG_R11B },
		{ X86_REG_R12D, X86_REG_R12W, X86_REG_R12B },
		{ X86_REG_R13D, X86_REG_R13W, X86_REG_R13B },
		{ X86_REG_R14D, X86_REG_R14W, X86_REG_R14B },
		{ X86_REG_R15D, X86_REG_R15W, X86_REG_R15B } };

	for (unsigned i = 0; reg != 0 && i < 8; i++) {
		for (unsigned k = 0; k < 4; k++)
			if (low[i][k] == reg)
				return (int)i;
		for (unsigned k = 0; k < 3; k++)
			if (high[i][k] == reg)
				return (int)(R8 + i);
	}
	return number_of(reg);
}

static struct symbolic_value address_of(const struct symbolic_state *state,
					const cs_insn *in, const x86_op_mem *mem)
{
	struct symbolic_value base = symbolic_constant(0);
	int reg;

	if (mem->segment == X86_REG_FS || mem->segment == X86_REG_GS)
		return symbolic_unknown();
	if (mem->base == X86_REG_RIP) {
		base = symbolic_constant((int64_t)(in->address + in->size));
	} else if (mem->base != X86_REG_INVALID) {
		reg = number_of(mem->base);
		base = reg >= 0 ? state->reg[reg] : symbolic_unknown();
	}
	if (mem->index != X86_REG_INVALID && mem->index != X86_REG_RIZ) {
		reg = number_of(mem->index);
		if (reg < 0 || state->reg[reg].kind != SYMBOLIC_CONSTANT)
			return symbolic_unknown();
		base = symbolic_plus(base, state->reg[reg].number * mem->scale);
	}
	return symbolic_plus(base, mem->disp);
}

/* A whole word; unknown if narrower. */
static struct symbolic_value value_of(const struct symbolic_state *state,
				      const cs_insn *in, const cs_x86_op *op)
{
	int reg;

	switch (op->type) {
	case X86_OP_REG:
		reg = number_of(op->reg);
		return reg >= 0 ? state->reg[reg] : symbolic_unknown();
	case X86_OP_IMM:
		return symbolic_constant(op->imm);
	case X86_OP_MEM:
		return op->size == WORD ?
			symbolic_load(state, address_of(state, in, &op->mem)) :
			symbolic_unknown();
	default:
		return symbolic_unknown();
	}
}

static void set_operand(struct symbolic_state *state, const cs_insn *in,
			const cs_x86_op *op, struct symbolic_value value)
{
	int reg;

	if (op->type == X86_OP_MEM) {
		symbolic_store(state, address_of(state, in, &op->mem),
			       op->size, WORD, value);
	} else if (op->type == X86_OP_REG) {
		reg = any_number_of(op->reg);
		if (reg >= 0)
			state->reg[reg] = number_of(op->reg) >= 0 ? value :
				symbolic_unknown();
	}
}

static void push(struct symbolic_state *state, struct symbolic_value value,
		 unsigned size)
{
	state->reg[RSP] = symbolic_plus(state->reg[RSP], -(int64_t)size);
	symbolic_store(state, state->reg[RSP], size, WORD, value);
}

static struct symbolic_value pop(struct symbolic_state *state, unsigned size)
{
	struct symbolic_value value = size == WORD ?
		symbolic_load(state, state->reg[RSP]) : symbolic_unknown();

	state->reg[RSP] = symbolic_plus(state->reg[RSP], size);
	return value;
}

/* All operands that it writes become unknown. */
static void write_others(struct machine_decoder *decoder, const cs_insn *in,
			 struct symbolic_state *state)
{
	const cs_x86 *x86 = &in->detail->x86;
	cs_regs read, written;
	uint8_t reads, writes;
	int reg;

	for (unsigned i = 0; i < x86->op_count; i++) {
		const cs_x86_op *op = &x86->operands[i];

		/* Capstone does not mark all vector stores as writes */
		if (op->type == X86_OP_MEM &&
		    (op->access & CS_AC_WRITE || (i == 0 && op->access == 0)))
			set_operand(state, in, op, symbolic_unknown());
	}
	if (cs_regs_access(decoder->handle, in, read, &reads, written,
			   &writes) != CS_ERR_OK)
		return;
	for (unsigned i = 0; i < writes; i++) {
		reg = any_number_of(written[i]);
		if (reg >= 0)
			state->reg[reg] = symbolic_unknown();
	}
}

/* sub, add, and. False: an operand is not a register of a whole word. */
static bool arithmetic(const cs_insn *in, struct symbolic_state *state)
{
	const cs_x86_op *op = in->detail->x86.operands;
	struct symbolic_value value, before;
	int reg = op[0].type == X86_OP_REG ? number_of(op[0].reg) : -1;

	if (reg < 0 || in->detail->x86.op_count != 2)
		return false;
	value = value_of(state, in, &op[1]);
	before = state->reg[reg];
	if (in->id == X86_INS_ADD)
		value = symbolic_add(before, value);
	else if (in->id == X86_INS_SUB)
		value = symbolic_minus(before, value);
	else
		value = symbolic_unknown();
	state->reg[reg] = value;
	/* alignment, alloca */
	if (reg == RSP && value.kind == SYMBOLIC_UNKNOWN)
		symbolic_make_base(state, RSP, in->id == X86_INS_AND &&
				   before.kind == SYMBOLIC_CFA ?
				   SYMBOLIC_ALIGNED : SYMBOLIC_DYNAMIC);
	return true;
}

static bool move(const cs_insn *in, struct symbolic_state *state)
{
	const cs_x86_op *op = in->detail->x86.operands;
	int reg;

	switch (in->id) {
	case X86_INS_MOV: case X86_INS_MOVABS:
		set_operand(state, in, &op[0], value_of(state, in, &op[1]));
		return true;
	case X86_INS_LEA:
		reg = any_number_of(op[0].reg);
		if (reg < 0)
			return false;
		state->reg[reg] = number_of(op[0].reg) < 0 ?
			symbolic_unknown() :
			address_of(state, in, &op[1].mem);
		if (reg == RSP && state->reg[RSP].kind == SYMBOLIC_UNKNOWN)
			symbolic_make_base(state, RSP, SYMBOLIC_DYNAMIC);
		return true;
	case X86_INS_PUSH:
		push(state, value_of(state, in, &op[0]),
		     op[0].size == 2 ? 2 : WORD);
		return true;
	case X86_INS_POP:
		set_operand(state, in, &op[0],
			    pop(state, op[0].size == 2 ? 2 : WORD));
		return true;
	case X86_INS_PUSHFQ:
		push(state, symbolic_unknown(), WORD);
		return true;
	case X86_INS_POPFQ:
		pop(state, WORD);
		return true;
	case X86_INS_LEAVE:
		state->reg[RSP] = state->reg[RBP];
		state->reg[RBP] = pop(state, WORD);
		return true;
	case X86_INS_ADD: case X86_INS_SUB: case X86_INS_AND:
		return arithmetic(in, state);
	default:
		return false;
	}
}

static void set_target(const cs_insn *in, struct machine_step *step)
{
	const cs_x86 *x86 = &in->detail->x86;

	if (x86->op_count == 1 && x86->operands[0].type == X86_OP_IMM) {
		step->has_target = true;
		step->target = (uint64_t)x86->operands[0].imm;
	}
}

/* False: execution continues at the next instruction. */
static bool transfer(struct machine_decoder *decoder, const cs_insn *in,
		     struct machine_step *step)
{
	switch (in->id) {
	case X86_INS_CALL:
		step->flow = MACHINE_CALL;
		set_target(in, step);
		return true;
	case X86_INS_RET: case X86_INS_RETF: case X86_INS_RETFQ:
	case X86_INS_IRETQ: case X86_INS_IRET: case X86_INS_SYSRET:
		step->flow = MACHINE_RETURN;
		return true;
	case X86_INS_JMP: case X86_INS_LJMP:
		step->flow = MACHINE_JUMP;
		set_target(in, step);
		return true;
	case X86_INS_UD2: case X86_INS_HLT: case X86_INS_INT3:
	case UD1:
		step->flow = MACHINE_STOP;
		return true;
	case X86_INS_XBEGIN:
		step->flow = MACHINE_BRANCH;
		set_target(in, step);
		return true;
	default:
		if (!cs_insn_group(decoder->handle, in, CS_GRP_JUMP))
			return false;
		step->flow = MACHINE_BRANCH;
		set_target(in, step);
		return true;
	}
}

/* ---- instructions unknown to Capstone ---- */

/* Bytes of ModRM, SIB and displacement; 0: too few bytes. */
static unsigned address_size(const uint8_t *bytes, size_t left)
{
	unsigned mode, low, size = 1;

	if (left < 2)
		return 0;
	mode = bytes[0] >> 6;
	low = bytes[0] & 7;
	if (mode == 3)
		return 1;
	if (low == 4) {
		size++;
		if (mode == 0 && (bytes[1] & 7) == 5)
			size += 4;
	}
	if (mode == 0 && low == 5)
		size += 4;
	return size + (mode == 1 ? 1 : mode == 2 ? 4 : 0);
}

/* 62 P0 P1 P2 opcode ModRM …: AVX-512. Few of them write general registers. A
 * store that may hit the stack by sp or fp makes the memory unknown. */
static void step_evex(const uint8_t *bytes, size_t left,
		      struct symbolic_state *state, struct machine_step *step)
{
	unsigned map = bytes[1] & 7, opcode = bytes[4], size, reg;

	size = left > 6 ? address_size(bytes + 5, left - 5) : 0;
	if (size == 0 || map < 1 || map > 6)
		return;
	/* map 3, and some of map 1, end with an immediate byte */
	size += 5 + (map == 3 || (map == 1 && (opcode == 0x72 ||
		opcode == 0x71 || opcode == 0x73 || opcode == 0xc2 ||
		opcode == 0xc4 || opcode == 0xc5 || opcode == 0xc6 ||
		opcode == 0x70)));
	if (size > left)
		return;
	step->flow = MACHINE_NEXT;
	step->size = (uint8_t)size;
	step->guessed = true;
	if ((map == 1 && (opcode == 0x2c || opcode == 0x2d || opcode == 0x78 ||
			  opcode == 0x79 || opcode == 0xc5)) || map == 5) {
		reg = bytes[5] >> 3 & 7;
		state->reg[bytes[1] & 0x80 ? encoded[reg] : R8 + reg] =
			symbolic_unknown();
	}
	if (bytes[5] >> 6 == 3 &&
	    ((map == 1 && opcode == 0x7e) ||
	     (map == 3 && opcode >= 0x14 && opcode <= 0x17))) {
		reg = bytes[5] & 7;
		state->reg[bytes[1] & 0x20 ? encoded[reg] : R8 + reg] =
			symbolic_unknown();
	}
}

/* rdsspq, and instructions that are nops without shadow stacks; Capstone knows
 * kmov of 64 bits and the like. */
static void step_shadow(const uint8_t *bytes, size_t left,
			struct symbolic_state *state,
			struct machine_step *step)
{
	unsigned rex = bytes[1] >> 4 == 4, reg;
	const uint8_t *op = bytes + 1 + rex;

	if (left < 4 + rex || op[0] != 0x0f || (op[1] != 0x1e &&
						op[1] != 0xae))
		return;
	if (op[2] >> 6 != 3)
		return;
	reg = op[2] & 7;
	if (op[1] == 0x1e)
		state->reg[rex && bytes[1] & 1 ? R8 + reg : encoded[reg]] =
			symbolic_unknown();
	step->flow = MACHINE_NEXT;
	step->size = (uint8_t)(4 + rex);
}

static void step_unknown(const uint8_t *bytes, size_t left,
			 struct symbolic_state *state,
			 struct machine_step *step)
{
	if (left > 6 && bytes[0] == 0x62)
		step_evex(bytes, left, state, step);
	else if (left > 4 && bytes[0] == 0xf3)
		step_shadow(bytes, left, state, step);
}

/* nop in all its lengths, lea 0(%rsi),%rsi, xchg %ax,%ax. */
static bool is_nothing(const cs_insn *in)
{
	const cs_x86_op *op = in->detail->x86.operands;

	if (in->id == X86_INS_LEA)
		return op[1].mem.base == op[0].reg && op[1].mem.disp == 0 &&
			op[1].mem.index == X86_REG_INVALID;
	return in->id == X86_INS_NOP ||
		(in->id == X86_INS_XCHG && op[0].type == X86_OP_REG &&
		 op[1].type == X86_OP_REG && op[0].reg == op[1].reg);
}

static void step_x86_64(struct machine_decoder *decoder, uint64_t address,
			const uint8_t *bytes, size_t left,
			struct symbolic_state *state,
			struct machine_step *step)
{
	const cs_insn *in = decoder->instruction;
	const uint8_t *at = bytes;
	size_t rest = left;

	*step = (struct machine_step){ .flow = MACHINE_BAD };
	if (!cs_disasm_iter(decoder->handle, &at, &rest, &address,
			    decoder->instruction)) {
		step_unknown(bytes, left, state, step);
		return;
	}
	step->size = (uint8_t)in->size;
	step->flow = MACHINE_NEXT;
	step->nothing = is_nothing(in);
	if (transfer(decoder, in, step)) {
		if (step->flow == MACHINE_BRANCH)	/* loop, jrcxz */
			write_others(decoder, in, state);
		return;
	}
	if (in->id == X86_INS_SYSCALL) {
		state->reg[RAX] = state->reg[RCX] = state->reg[R11] =
			symbolic_unknown();
		return;
	}
	if (!move(in, state))
		write_others(decoder, in, state);
}

const struct machine machine_x86_64 = {
	.elf_machine = EM_X86_64, .wide = true,
	.arch = CS_ARCH_X86, .mode = CS_MODE_64,
	.word = WORD, .alignment = 1,
	.sp = RSP, .ra = RA, .fp = { RBP, RBP },
	.entry_offset = WORD, .ra_on_stack = true,
	.preserved = 1u << RBX | 1u << RBP | 1u << R12 | 1u << R13 |
		1u << R14 | 1u << R15,
	.step = step_x86_64,
};
