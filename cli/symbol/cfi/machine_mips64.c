/*
 * machine_mips64.c: decodes MIPS64 instructions up to release 5 from their
 * words (MIPS64 Architecture For Programmers, volume II-A; n64: MIPSpro 64-bit
 * ABI).
 * Branches and jumps have a delay slot.
 */
#include "cli/symbol/cfi/machine.h"

#include <elf.h>
#include <string.h>

#define GP 28
#define SP 29
#define FP 30
#define RA 31
#define WORD 8

struct mips {
	uint32_t word;
	unsigned rs, rt, rd, function;
	int64_t immediate;	/* 16 bits, signed */
	uint64_t at;
	struct symbolic_state *state;
	struct machine_step *step;
};

static struct symbolic_value get(const struct mips *in, unsigned reg)
{
	return reg == 0 ? symbolic_constant(0) : in->state->reg[reg];
}

static void set(const struct mips *in, unsigned reg,
		struct symbolic_value value)
{
	if (reg == 0)
		return;
	in->state->reg[reg] = value;
	if (reg == SP && value.kind == SYMBOLIC_UNKNOWN)
		symbolic_make_base(in->state, SP, SYMBOLIC_DYNAMIC);
}

/* f24 to f31 are preserved. */
static void forget_float(const struct mips *in, unsigned reg)
{
	if (reg >= 24)
		in->state->reg[SYMBOLIC_FLOATS + reg - 24] =
			symbolic_unknown();
}

static void jump(const struct mips *in, enum machine_flow flow, uint64_t target)
{
	in->step->flow = (uint8_t)flow;
	in->step->has_target = true;
	in->step->target = target;
	in->step->delayed = true;
}

static uint64_t branch_target(const struct mips *in)
{
	return in->at + 4 + (uint64_t)(in->immediate * 4);
}

static void branch(const struct mips *in, bool likely)
{
	jump(in, MACHINE_BRANCH, branch_target(in));
	in->step->nullified = likely;
}

/* Link: code uses bal to the next instruction to get its own address. */
static void branch_link(const struct mips *in)
{
	set(in, RA, symbolic_unknown());
	if (branch_target(in) != in->at + 8)
		jump(in, MACHINE_CALL, branch_target(in));
}

static void special(const struct mips *in)
{
	struct symbolic_value a = get(in, in->rs), b = get(in, in->rt);

	switch (in->function) {
	case 0x08:	/* jr */
		in->step->flow = in->rs == RA ? MACHINE_RETURN : MACHINE_JUMP;
		in->step->delayed = true;
		break;
	case 0x09:	/* jalr */
		set(in, in->rd, symbolic_unknown());
		in->step->flow = in->rd == 0 ? MACHINE_JUMP : MACHINE_CALL;
		if (in->rd == 0 && in->rs == RA)
			in->step->flow = MACHINE_RETURN;
		in->step->delayed = true;
		break;
	case 0x0c:	/* syscall */
		for (unsigned i = 1; i < 16; i++)
			set(in, i, symbolic_unknown());
		set(in, 24, symbolic_unknown());
		set(in, 25, symbolic_unknown());
		break;
	case 0x0d:	/* break */
		in->step->flow = MACHINE_STOP;
		break;
	case 0x0f:	/* sync */
	case 0x11: case 0x13:	/* mthi, mtlo */
	case 0x30: case 0x31: case 0x32: case 0x33: case 0x34: case 0x36:
		break;	/* traps */
	case 0x18: case 0x19: case 0x1a: case 0x1b:
	case 0x1c: case 0x1d: case 0x1e: case 0x1f:
		set(in, in->rd, symbolic_unknown());	/* of release 6 */
		break;
	case 0x25:	/* or: move */
		set(in, in->rd, in->rt == 0 ? a : in->rs == 0 ? b :
		    symbolic_unknown());
		break;
	case 0x2d:	/* daddu */
		set(in, in->rd, symbolic_add(a, b));
		break;
	case 0x2f:	/* dsubu */
		set(in, in->rd, symbolic_minus(a, b));
		break;
	default:
		set(in, in->rd, symbolic_unknown());
	}
}

/* Branches that compare with zero. */
static void register_immediate(const struct mips *in)
{
	switch (in->rt) {
	case 0x00: case 0x01:
		branch(in, false);
		break;
	case 0x02: case 0x03:
		branch(in, true);
		break;
	case 0x10: case 0x11: case 0x12: case 0x13:
		branch_link(in);
		in->step->nullified = in->rt >= 0x12;
		break;
	}
}

static void coprocessor(const struct mips *in)
{
	switch (in->rs) {
	case 0: case 1: case 2: case 3:
		set(in, in->rt, symbolic_unknown());
		break;
	case 4: case 5: case 7:
		forget_float(in, in->rd);
		break;
	case 6:
		break;
	case 8:
		branch(in, in->rt & 2);
		break;
	default:
		forget_float(in, in->word >> 6 & 31);
	}
}

static struct symbolic_value address_of(const struct mips *in)
{
	return symbolic_plus(get(in, in->rs), in->immediate);
}

static void store(const struct mips *in, unsigned size,
		  struct symbolic_value value)
{
	symbolic_store(in->state, address_of(in), size, WORD, value);
}

static void load_store(const struct mips *in, unsigned opcode)
{
	unsigned slot = SYMBOLIC_FLOATS + in->rt - 24;

	switch (opcode) {
	case 0x37:	/* ld */
		set(in, in->rt, symbolic_load(in->state, address_of(in)));
		break;
	case 0x3f:	/* sd */
		store(in, WORD, get(in, in->rt));
		in->step->saves_ra = in->rt == RA && in->rs == SP;
		break;
	case 0x28: case 0x29: case 0x2a: case 0x2b:
	case 0x2c: case 0x2d: case 0x2e: case 0x39:
		store(in, opcode == 0x28 ? 1 : opcode == 0x29 ? 2 :
		      opcode == 0x2c || opcode == 0x2d ? 8 : 4,
		      symbolic_unknown());
		break;
	case 0x38: case 0x3c:	/* sc, scd */
		store(in, WORD, symbolic_unknown());
		set(in, in->rt, symbolic_unknown());
		break;
	case 0x31:	/* lwc1 */
		forget_float(in, in->rt);
		break;
	case 0x35:	/* ldc1 */
		if (in->rt >= 24)
			in->state->reg[slot] =
				symbolic_load(in->state, address_of(in));
		break;
	case 0x3d:	/* sdc1 */
		store(in, WORD, in->rt >= 24 ? in->state->reg[slot] :
		      symbolic_unknown());
		break;
	case 0x33:	/* pref */
	case 0x2f:	/* cache */
		break;
	default:
		set(in, in->rt, symbolic_unknown());
	}
}

static void arithmetic(const struct mips *in, unsigned opcode)
{
	struct symbolic_value value = symbolic_unknown();
	struct symbolic_value from = get(in, in->rs);

	switch (opcode) {
	case 0x18: case 0x19:	/* daddi, daddiu */
		value = symbolic_plus(from, in->immediate);
		break;
	case 0x09:	/* addiu: with a known constant */
		if (in->rs == 0)
			value = symbolic_constant(in->immediate);
		else if (from.kind == SYMBOLIC_CONSTANT)
			value = symbolic_constant((int32_t)(uint32_t)(
				from.number + in->immediate));
		break;
	case 0x0d:	/* ori */
		if (from.kind == SYMBOLIC_CONSTANT)
			value = symbolic_constant(from.number |
						  (in->word & 0xffff));
		break;
	case 0x0f:	/* lui */
		value = symbolic_constant((int32_t)(in->word << 16));
		break;
	}
	set(in, in->rt, value);
}

static void decode(const struct mips *in)
{
	unsigned opcode = in->word >> 26;
	uint64_t region = (in->at + 4) & ~UINT64_C(0xfffffff);

	switch (opcode) {
	case 0x00:
		special(in);
		break;
	case 0x01:
		register_immediate(in);
		break;
	case 0x02: case 0x03:
		if (opcode == 3)
			set(in, RA, symbolic_unknown());
		jump(in, opcode == 3 ? MACHINE_CALL : MACHINE_JUMP,
		     region | (in->word & 0x3ffffff) << 2);
		break;
	case 0x04: case 0x05: case 0x06: case 0x07:
		branch(in, false);
		if (opcode == 4 && in->rs == in->rt)
			in->step->flow = MACHINE_JUMP;
		break;
	case 0x14: case 0x15: case 0x16: case 0x17:
		branch(in, true);
		break;
	case 0x10: case 0x12:
		if (in->rs < 3)
			set(in, in->rt, symbolic_unknown());
		break;
	case 0x11:
		coprocessor(in);
		break;
	case 0x13:	/* multiply and add; loads by two registers */
		forget_float(in, in->word >> 6 & 31);
		break;
	case 0x1c:
		set(in, in->rd, symbolic_unknown());
		break;
	case 0x1f:	/* bit fields: ext, ins, rdhwr write rt, shuffles rd */
		set(in, in->rt, symbolic_unknown());
		if (in->function == 0x20 || in->function == 0x24)
			set(in, in->rd, symbolic_unknown());
		break;
	default:
		if (opcode < 0x1a)
			arithmetic(in, opcode);
		else
			load_store(in, opcode);
	}
}

static void step_mips64(struct machine_decoder *decoder, uint64_t address,
			const uint8_t *bytes, size_t left,
			struct symbolic_state *state,
			struct machine_step *step)
{
	struct mips in = { .at = address, .state = state, .step = step };

	*step = (struct machine_step){ .flow = MACHINE_BAD };
	if (left < 4)
		return;
	for (unsigned i = 0; i < 4; i++)
		in.word |= (uint32_t)bytes[decoder->big ? 3 - i : i] << 8 * i;
	in.rs = in.word >> 21 & 31;
	in.rt = in.word >> 16 & 31;
	in.rd = in.word >> 11 & 31;
	in.function = in.word & 63;
	in.immediate = (int16_t)in.word;
	step->size = 4;
	step->flow = MACHINE_NEXT;
	step->nothing = in.word == 0;
	decode(&in);
}

const struct machine machine_mips64 = {
	.elf_machine = EM_MIPS, .wide = true,
	.arch = CS_ARCH_MIPS, .mode = CS_MODE_MIPS64,
	.word = WORD, .alignment = 4,
	.sp = SP, .ra = RA, .fp = { FP, FP },
	.float_column = 56,
	.preserved = UINT64_C(0xff) << 16 | UINT64_C(1) << GP |
		UINT64_C(1) << FP | UINT64_C(0xff) << SYMBOLIC_FLOATS,
	.step = step_mips64,
};
