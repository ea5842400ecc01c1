/*
 * machine_aarch64.c: decodes AArch64 instructions from their words (Arm
 * Architecture Reference Manual for A-profile, C4 and C6). Capstone 4 does not
 * know atomics of v8.1, authenticating returns and SVE. The effects that matter
 * here follow from a few fields that all instructions of a group share.
 *
 * Pointer authentication: a signed return address counts as the return address;
 * whether it is signed is a separate state, as in unwind tables.
 */
#include "cli/symbol/cfi/machine.h"

#include <elf.h>
#include <string.h>

#define FP 29
#define LR 30
#define SP 31			/* or zero, depending on the instruction */
#define WORD 8

struct a64 {
	uint32_t word;
	uint64_t at;
	struct symbolic_state *state;
	struct machine_step *step;
};

static uint32_t bits(const struct a64 *in, unsigned low, unsigned count)
{
	return in->word >> low & ((1u << count) - 1);
}

static int64_t signed_bits(const struct a64 *in, unsigned low, unsigned count)
{
	int64_t value = bits(in, low, count);

	return value >> (count - 1) ? value - (INT64_C(1) << count) : value;
}

static bool is(const struct a64 *in, uint32_t mask, uint32_t value)
{
	return (in->word & mask) == value;
}

/* Register 31 is zero. */
static struct symbolic_value get(const struct a64 *in, unsigned reg)
{
	return reg == SP ? symbolic_constant(0) : in->state->reg[reg];
}

static void set(const struct a64 *in, unsigned reg,
		struct symbolic_value value)
{
	if (reg != SP)
		in->state->reg[reg] = value;
}

/* Register 31 is the stack pointer. */
static void set_or_sp(const struct a64 *in, unsigned reg,
		      struct symbolic_value value)
{
	in->state->reg[reg] = value;
	if (reg == SP && value.kind == SYMBOLIC_UNKNOWN)
		symbolic_make_base(in->state, SP, SYMBOLIC_DYNAMIC);
}

/* d8 to d15 are preserved; writes to other vector registers are ignored. */
static void set_float(const struct a64 *in, unsigned reg,
		      struct symbolic_value value)
{
	if (reg >= 8 && reg < 16)
		in->state->reg[SYMBOLIC_FLOATS + reg - 8] = value;
}

static struct symbolic_value get_float(const struct a64 *in, unsigned reg)
{
	return reg >= 8 && reg < 16 ?
		in->state->reg[SYMBOLIC_FLOATS + reg - 8] : symbolic_unknown();
}

/* ---- data processing, immediate ---- */

static void add_immediate(const struct a64 *in)
{
	bool wide = bits(in, 31, 1), minus = bits(in, 30, 1);
	bool flags = bits(in, 29, 1);
	unsigned rd = bits(in, 0, 5);
	int64_t number = bits(in, 10, 12);
	struct symbolic_value value;

	number <<= bits(in, 22, 1) ? 12 : 0;
	value = !wide ? symbolic_unknown() :
		symbolic_plus(in->state->reg[bits(in, 5, 5)],
			      minus ? -number : number);
	if (flags)
		set(in, rd, value);
	else
		set_or_sp(in, rd, value);
}

static void move_wide(const struct a64 *in)
{
	unsigned rd = bits(in, 0, 5), shift = 16 * bits(in, 21, 2);
	uint64_t number = (uint64_t)bits(in, 5, 16) << shift;
	struct symbolic_value old = get(in, rd);
	bool wide = bits(in, 31, 1);

	switch (bits(in, 29, 2)) {
	case 0:
		number = ~number;
		break;
	case 2:
		break;
	default:
		if (old.kind != SYMBOLIC_CONSTANT) {
			set(in, rd, symbolic_unknown());
			return;
		}
		number |= (uint64_t)old.number & ~(UINT64_C(0xffff) << shift);
	}
	set(in, rd, symbolic_constant((int64_t)(wide ? number :
						(uint32_t)number)));
}

static void immediate(const struct a64 *in)
{
	unsigned rd = bits(in, 0, 5);

	if (is(in, 0x1f800000, 0x11000000)) {
		add_immediate(in);
	} else if (is(in, 0x1f800000, 0x12800000)) {
		move_wide(in);
	} else if (is(in, 0x1f800000, 0x12000000)) {
		/* and, orr, eor with a mask; ands cannot write sp */
		if (bits(in, 29, 2) == 3)
			set(in, rd, symbolic_unknown());
		else
			set_or_sp(in, rd, symbolic_unknown());
	} else {
		set(in, rd, symbolic_unknown());
	}
}

/* ---- data processing, registers ---- */

static void registers(const struct a64 *in)
{
	unsigned rd = bits(in, 0, 5), rn = bits(in, 5, 5);
	unsigned rm = bits(in, 16, 5);
	struct symbolic_value value = symbolic_unknown();

	if (is(in, 0xffe0ffe0, 0xaa0003e0)) {	/* mov */
		set(in, rd, get(in, rm));
		return;
	}
	/* add, sub with an extended register: sp is allowed */
	if (is(in, 0x9fe00000, 0x8b200000) && bits(in, 10, 3) == 0 &&
	    bits(in, 13, 3) == 3) {
		struct symbolic_value by = get(in, rm);

		value = bits(in, 30, 1) ?
			symbolic_minus(in->state->reg[rn], by) :
			symbolic_add(in->state->reg[rn], by);
	}
	if (is(in, 0x3fe00000, 0x0b200000)) {
		set_or_sp(in, rd, value);
		return;
	}
	if (is(in, 0xbfe0fc00, 0x8b000000)) {	/* without a shift */
		value = bits(in, 30, 1) ?
			symbolic_minus(get(in, rn), get(in, rm)) :
			symbolic_add(get(in, rn), get(in, rm));
		set(in, rd, value);
		return;
	}
	/* ccmp, ccmn, setf write flags only */
	if (!is(in, 0x1fe00000, 0x1a400000))
		set(in, rd, symbolic_unknown());
}

/* ---- loads and stores ---- */

struct access {
	unsigned rt, rt2, size;
	bool pair, load, vector;
	struct symbolic_value address;
};

static void transfer_one(const struct a64 *in, const struct access *access,
			 unsigned reg, int64_t offset)
{
	struct symbolic_value at = symbolic_plus(access->address, offset);
	struct symbolic_value value = symbolic_unknown();

	if (access->load) {
		if (access->size == WORD)
			value = symbolic_load(in->state, at);
		if (access->vector)
			set_float(in, reg, value);
		else
			set(in, reg, value);
		return;
	}
	/* calls preserve the lower half of a vector register */
	value = access->vector ? get_float(in, reg) : get(in, reg);
	symbolic_store(in->state, at, access->size, WORD, value);
}

static void transfer(const struct a64 *in, const struct access *access)
{
	transfer_one(in, access, access->rt, 0);
	if (access->pair)
		transfer_one(in, access, access->rt2, access->size);
}

/* ldp, stp in all their forms. */
static void pair(const struct a64 *in)
{
	unsigned opc = bits(in, 30, 2), mode = bits(in, 23, 2);
	unsigned rn = bits(in, 5, 5);
	struct access access = {
		.rt = bits(in, 0, 5), .rt2 = bits(in, 10, 5), .pair = true,
		.load = bits(in, 22, 1), .vector = bits(in, 26, 1),
	};
	int64_t offset;
	struct symbolic_value base = in->state->reg[rn], moved;

	access.size = access.vector ? 4u << opc : opc & 2 ? 8 : 4;
	offset = signed_bits(in, 15, 7) * (int64_t)access.size;
	moved = symbolic_plus(base, offset);
	access.address = mode == 1 ? base : moved;
	transfer(in, &access);
	in->step->saves_ra = !access.load && !access.vector && rn == SP &&
		(access.rt == LR || access.rt2 == LR);
	if (mode == 1 || mode == 3)
		set_or_sp(in, rn, moved);
}

/* ldr, str of one register by an immediate. */
static void single(const struct a64 *in)
{
	unsigned opc = bits(in, 22, 2), rn = bits(in, 5, 5);
	unsigned mode = bits(in, 10, 2);
	bool scaled = bits(in, 24, 1);
	struct access access = {
		.rt = bits(in, 0, 5), .vector = bits(in, 26, 1),
		.size = 1u << bits(in, 30, 2), .load = opc != 0,
	};
	struct symbolic_value base = in->state->reg[rn], moved;

	if (access.vector) {
		access.size = opc & 2 ? 16 : access.size;
		access.load = opc & 1;
	} else if (bits(in, 30, 2) == 3 && opc == 2) {
		return;		/* prfm */
	}
	moved = symbolic_plus(base, scaled ?
			      (int64_t)bits(in, 10, 12) * access.size :
			      signed_bits(in, 12, 9));
	access.address = !scaled && mode == 1 ? base : moved;
	transfer(in, &access);
	in->step->saves_ra = !access.load && !access.vector && rn == SP &&
		access.rt == LR;
	if (!scaled && (mode == 1 || mode == 3))
		set_or_sp(in, rn, moved);
}

/* Register offset: the address is unknown. */
static void by_register(const struct a64 *in)
{
	unsigned rt = bits(in, 0, 5);

	if (bits(in, 26, 1)) {
		if (bits(in, 22, 1))
			set_float(in, rt, symbolic_unknown());
	} else if (bits(in, 22, 2) != 0) {
		set(in, rt, symbolic_unknown());
	}
}

/* Exclusives, acquire and release, compare and swap: bits 29 to 24 are 001000.
 * Rs is the status register; casp uses pairs. */
static void exclusive(const struct a64 *in)
{
	unsigned rs = bits(in, 16, 5), rt = bits(in, 0, 5);
	bool load = bits(in, 22, 1), ordered = bits(in, 23, 1);
	bool odd = bits(in, 21, 1);

	if (load) {
		set(in, rt, symbolic_unknown());
		if (odd && !ordered)
			set(in, bits(in, 10, 5), symbolic_unknown());
	} else {
		symbolic_store(in->state, in->state->reg[bits(in, 5, 5)],
			       2 * WORD, WORD, symbolic_unknown());
	}
	if (!ordered || odd)
		set(in, rs, symbolic_unknown());
	if (odd && !bits(in, 31, 1) && rs < SP - 1)
		set(in, rs + 1, symbolic_unknown());
}

/* Vector structures (ld1, st1 …): the base may be updated. */
static void structures(const struct a64 *in)
{
	unsigned rn = bits(in, 5, 5), rt = bits(in, 0, 5);

	if (bits(in, 22, 1))
		for (unsigned i = 0; i < 4; i++)
			set_float(in, (rt + i) % 32, symbolic_unknown());
	else
		symbolic_store(in->state, in->state->reg[rn], 64, WORD,
			       symbolic_unknown());
	if (bits(in, 23, 1))
		set_or_sp(in, rn, symbolic_unknown());
}

static void load_store(const struct a64 *in)
{
	unsigned rt = bits(in, 0, 5);

	if (is(in, 0x3a000000, 0x28000000)) {
		pair(in);
	} else if (is(in, 0x3b000000, 0x39000000) ||
		   is(in, 0x3b200000, 0x38000000)) {
		single(in);
	} else if (is(in, 0x3b200c00, 0x38200800)) {
		by_register(in);
	} else if (is(in, 0x3b200c00, 0x38200000)) {	/* atomics of v8.1 */
		set(in, rt, symbolic_unknown());
	} else if (is(in, 0x3b000000, 0x18000000)) {	/* load of a constant */
		if (bits(in, 26, 1))
			set_float(in, rt, symbolic_unknown());
		else if (bits(in, 30, 2) != 3)		/* prfm */
			set(in, rt, symbolic_unknown());
	} else if (is(in, 0x3f000000, 0x08000000)) {
		exclusive(in);
	} else if (is(in, 0xbe000000, 0x0c000000)) {
		structures(in);
	} else {	/* tagged, authenticated, ordered: at most loads */
		in->step->guessed = true;
		set(in, rt, symbolic_unknown());
		set_or_sp(in, bits(in, 5, 5), bits(in, 5, 5) == SP ?
			  in->state->reg[SP] : symbolic_unknown());
	}
}

/* ---- vectors ---- */

static void vectors(const struct a64 *in)
{
	unsigned rd = bits(in, 0, 5), opcode = bits(in, 16, 3);
	bool general = false;

	/* fcmp, fccmp: rd is part of the opcode */
	if (is(in, 0x5f20fc00, 0x1e202000) || is(in, 0x5f200c00, 0x1e200400))
		return;
	if (is(in, 0x5f20fc00, 0x1e200000))	/* fmov, fcvt to integers */
		general = opcode < 2 || (opcode >= 4 && opcode < 7);
	else if (is(in, 0x5f200000, 0x1e000000))	/* to fixed point */
		general = opcode < 2;
	else if (is(in, 0xbfe0fc00, 0x0e003c00) ||
		 is(in, 0xbfe0fc00, 0x0e002c00))	/* umov, smov */
		general = true;
	if (general)
		set(in, rd, symbolic_unknown());
	else
		set_float(in, rd, symbolic_unknown());
}

/* SVE: some write general registers; addvl and addpl the stack pointer. */
static void scalable(const struct a64 *in)
{
	unsigned rd = bits(in, 0, 5);

	in->step->guessed = true;
	if (is(in, 0xffa0f800, 0x04205000))
		set_or_sp(in, rd, symbolic_unknown());
	else if (rd < FP)
		set(in, rd, symbolic_unknown());
	set_float(in, rd, symbolic_unknown());
}

/* ---- branches and the system ---- */

static void jump(const struct a64 *in, enum machine_flow flow, int64_t words)
{
	in->step->flow = (uint8_t)flow;
	in->step->has_target = true;
	in->step->target = in->at + (uint64_t)(words * 4);
}

static void hint(const struct a64 *in)
{
	switch (bits(in, 5, 7)) {
	case 0x19: case 0x1b:	/* paciasp, pacibsp */
	case 0x18: case 0x1a:	/* paciaz, pacibz */
		in->state->signed_ra = SYMBOLIC_SIGNED;
		break;
	case 0x1d: case 0x1f:	/* autiasp, autibsp */
	case 0x1c: case 0x1e:
		in->state->signed_ra = SYMBOLIC_PLAIN;
		break;
	case 0x00:
		in->step->nothing = true;
		break;
	case 0x08: case 0x0a: case 0x0c: case 0x0e:	/* …1716 */
		set(in, 17, symbolic_unknown());
		break;
	}
}

static void branch_register(const struct a64 *in)
{
	unsigned opcode = bits(in, 21, 4);

	switch (opcode & 7) {
	case 0:
		in->step->flow = MACHINE_JUMP;
		break;
	case 1:
		in->step->flow = MACHINE_CALL;
		break;
	default:	/* ret, retaa, eret */
		in->step->flow = MACHINE_RETURN;
	}
	/* ret with a register other than lr is a jump */
	if (opcode == 2 && bits(in, 10, 2) == 0 && bits(in, 5, 5) != LR)
		in->step->flow = MACHINE_JUMP;
}

static void branch(const struct a64 *in)
{
	unsigned rt = bits(in, 0, 5);

	if (is(in, 0x7c000000, 0x14000000)) {
		jump(in, bits(in, 31, 1) ? MACHINE_CALL : MACHINE_JUMP,
		     signed_bits(in, 0, 26));
	} else if (is(in, 0xff000000, 0x54000000) ||
		   is(in, 0x7e000000, 0x34000000)) {
		jump(in, MACHINE_BRANCH, signed_bits(in, 5, 19));
		/* b.al, b.nv */
		if (bits(in, 24, 8) == 0x54 && bits(in, 0, 4) >= 14)
			in->step->flow = MACHINE_JUMP;
	} else if (is(in, 0x7e000000, 0x36000000)) {
		jump(in, MACHINE_BRANCH, signed_bits(in, 5, 14));
	} else if (is(in, 0xfe000000, 0xd6000000)) {
		branch_register(in);
	} else if (is(in, 0xffe0001f, 0xd4000001)) {	/* svc */
		set(in, 0, symbolic_unknown());
	} else if (is(in, 0xff000000, 0xd4000000)) {	/* brk, hlt … */
		in->step->flow = MACHINE_STOP;
	} else if (is(in, 0xfffff01f, 0xd503201f)) {
		hint(in);
	} else if (is(in, 0xfff00000, 0xd5300000) ||
		   is(in, 0xfff80000, 0xd5280000)) {	/* mrs, sysl */
		set(in, rt, symbolic_unknown());
	}
}

static void step_aarch64(struct machine_decoder *decoder, uint64_t address,
			 const uint8_t *bytes, size_t left,
			 struct symbolic_state *state,
			 struct machine_step *step)
{
	struct a64 in = { .at = address, .state = state, .step = step };

	(void)decoder;
	*step = (struct machine_step){ .flow = MACHINE_BAD };
	if (left < 4)
		return;
	/* instructions are always little-endian */
	in.word = (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 |
		(uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
	step->size = 4;
	step->flow = MACHINE_NEXT;
	switch (bits(&in, 25, 4)) {
	case 0x8: case 0x9:
		immediate(&in);
		break;
	case 0xa: case 0xb:
		branch(&in);
		break;
	case 0x4: case 0x6: case 0xc: case 0xe:
		load_store(&in);
		break;
	case 0x5: case 0xd:
		registers(&in);
		break;
	case 0x7: case 0xf:
		vectors(&in);
		break;
	case 0x2:
		scalable(&in);
		break;
	default:	/* udf; SME */
		step->flow = in.word >> 16 == 0 ? MACHINE_STOP : MACHINE_BAD;
	}
}

const struct machine machine_aarch64 = {
	.elf_machine = EM_AARCH64, .wide = true,
	.arch = CS_ARCH_ARM64, .mode = CS_MODE_ARM,
	.word = WORD, .alignment = 4,
	.sp = SP, .ra = LR, .fp = { FP, FP },
	.float_column = 72,
	/* x19 to x29, d8 to d15 */
	.preserved = UINT64_C(0x7ff) << 19 |
		UINT64_C(0xff) << SYMBOLIC_FLOATS,
	.step = step_aarch64,
};
