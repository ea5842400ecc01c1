/*
 * machine_arm.c: the instructions of 32-bit ARM, in ARM and Thumb state, by
 * Capstone (Arm Architecture Reference Manual ARMv7-A; AAPCS 32).
 *
 * Of the floating point registers, d8 to d15 are followed. When one is stored,
 * the word of its lower half stands for it.
 *
 * A conditional instruction may not be executed: the state after it holds in
 * either case. In Thumb state IT holds the conditions of up to four following
 * instructions; these are taken as one instruction.
 */
#include "cli/symbol/cfi/machine.h"

#include <elf.h>
#include <string.h>

#define SP 13
#define LR 14
#define PC 15
#define WORD 4
#define FIRST_FLOAT 8	/* the first that calls preserve */
#define FLOATS (SYMBOLIC_REGS - SYMBOLIC_FLOATS)

struct arm {
	struct machine_decoder *decoder;
	csh handle;
	const cs_insn *in;
	const cs_arm *arm;
	struct symbolic_state *state;
	struct machine_step *step;
};

static int number_of(unsigned reg)
{
	if (reg >= ARM_REG_R0 && reg <= ARM_REG_R12)
		return (int)(reg - ARM_REG_R0);
	return reg == ARM_REG_SP ? SP : reg == ARM_REG_LR ? LR :
		reg == ARM_REG_PC ? PC : -1;
}

static struct symbolic_value get(const struct arm *a, unsigned reg)
{
	int number = number_of(reg);

	return number < 0 || number == PC ? symbolic_unknown() :
		a->state->reg[number];
}

/* The double register that a register is, or is a part of; for a pair, the
 * first (q4 is d8 and d9). -1: none. */
static int double_of(unsigned reg)
{
	if (reg >= ARM_REG_D0 && reg <= ARM_REG_D31)
		return (int)(reg - ARM_REG_D0);
	if (reg >= ARM_REG_S0 && reg <= ARM_REG_S31)
		return (int)(reg - ARM_REG_S0) / 2;
	return reg >= ARM_REG_Q0 && reg <= ARM_REG_Q15 ?
		2 * (int)(reg - ARM_REG_Q0) : -1;
}

static bool is_double(unsigned reg)
{
	return reg >= ARM_REG_D0 && reg <= ARM_REG_D31;
}

static bool is_preserved(int number)
{
	return number >= FIRST_FLOAT && number < FIRST_FLOAT + FLOATS;
}

static struct symbolic_value get_double(const struct arm *a, unsigned reg)
{
	int number = double_of(reg);

	return is_double(reg) && is_preserved(number) ?
		a->state->reg[SYMBOLIC_FLOATS + number - FIRST_FLOAT] :
		symbolic_unknown();
}

/* The value is kept only for a whole double. */
static void set_double(const struct arm *a, unsigned reg,
		       struct symbolic_value value)
{
	bool pair = reg >= ARM_REG_Q0 && reg <= ARM_REG_Q15;
	int number = double_of(reg);

	for (int i = 0; i <= pair; i++, number++)
		if (is_preserved(number))
			a->state->reg[SYMBOLIC_FLOATS + number - FIRST_FLOAT] =
				is_double(reg) ? value : symbolic_unknown();
}

static void set(const struct arm *a, unsigned reg, struct symbolic_value value)
{
	int number = number_of(reg);

	if (number < 0) {
		set_double(a, reg, symbolic_unknown());
		return;
	}
	if (number == PC) {	/* a load of pc is a jump */
		a->step->flow = MACHINE_JUMP;
		if (symbolic_same(value, symbolic_entry(LR))) {
			a->state->reg[LR] = value;
			a->step->flow = MACHINE_RETURN;
		}
		return;
	}
	a->state->reg[number] = value;
	if (number == SP && value.kind == SYMBOLIC_UNKNOWN)
		symbolic_make_base(a->state, SP, SYMBOLIC_DYNAMIC);
}

static struct symbolic_value operand(const struct arm *a, unsigned i)
{
	const cs_arm_op *op = &a->arm->operands[i];

	if (op->type == ARM_OP_IMM)
		return symbolic_constant(op->imm);
	if (op->type == ARM_OP_REG && op->shift.type == ARM_SFT_INVALID)
		return get(a, op->reg);
	return symbolic_unknown();
}

/* ---- several registers ---- */

/* Transfers the registers from operand `first` on, from an address upward. */
static void transfer(const struct arm *a, unsigned first, bool load,
		     struct symbolic_value address)
{
	struct symbolic_value target = symbolic_unknown();
	bool jumps = false;

	for (unsigned i = first; i < a->arm->op_count; i++) {
		unsigned reg = a->arm->operands[i].reg;

		if (!load) {
			symbolic_store(a->state, address, WORD, WORD,
				       get(a, reg));
			a->step->saves_ra |= reg == ARM_REG_LR;
		} else if (reg == ARM_REG_PC) {
			target = symbolic_load(a->state, address);
			jumps = true;
		} else {
			set(a, reg, symbolic_load(a->state, address));
		}
		address = symbolic_plus(address, WORD);
	}
	if (jumps)
		set(a, ARM_REG_PC, target);
}

static void push(const struct arm *a)
{
	int64_t size = a->arm->op_count * WORD;
	struct symbolic_value to = symbolic_plus(a->state->reg[SP], -size);

	transfer(a, 0, false, to);
	a->state->reg[SP] = to;
}

static void pop(const struct arm *a)
{
	struct symbolic_value from = a->state->reg[SP];

	/* update sp before pc is checked */
	a->state->reg[SP] = symbolic_plus(from, a->arm->op_count * WORD);
	transfer(a, 0, true, from);
}

/* ldm, stm: the base is the first operand. */
static void multiple(const struct arm *a, bool load, bool down, bool before)
{
	unsigned base_reg = a->arm->operands[0].reg;
	int64_t size = (a->arm->op_count - 1) * WORD;
	struct symbolic_value base = get(a, base_reg), at = base, end;

	end = symbolic_plus(base, down ? -size : size);
	if (down)
		at = before ? end : symbolic_plus(end, WORD);
	else if (before)
		at = symbolic_plus(base, WORD);
	if (a->arm->writeback)
		set(a, base_reg, end);
	transfer(a, 1, load, at);
}

/* ---- floating point ---- */

/* Transfers the registers from operand `first` up to `end`, from an address
 * upward. */
static void transfer_vectors(const struct arm *a, unsigned first, unsigned end,
			     bool load, struct symbolic_value address)
{
	for (unsigned i = first; i < end; i++) {
		unsigned reg = a->arm->operands[i].reg;
		unsigned size = is_double(reg) ? 2 * WORD : WORD;

		if (load) {
			set_double(a, reg, symbolic_load(a->state, address));
		} else {
			symbolic_store(a->state, address, size, WORD,
				       symbolic_unknown());
			symbolic_store(a->state, address, WORD, WORD,
				       get_double(a, reg));
		}
		address = symbolic_plus(address, size);
	}
}

static int64_t vector_bytes(const struct arm *a, unsigned first)
{
	unsigned count = a->arm->op_count - first;

	return is_double(a->arm->operands[first].reg) ? 2 * WORD * count :
							WORD * count;
}

/* vpush, vpop */
static void push_vector(const struct arm *a, bool load)
{
	int64_t size = vector_bytes(a, 0);
	struct symbolic_value sp = a->state->reg[SP];

	if (!load)
		sp = a->state->reg[SP] = symbolic_plus(sp, -size);
	transfer_vectors(a, 0, a->arm->op_count, load, sp);
	if (load)
		a->state->reg[SP] = symbolic_plus(sp, size);
}

/* vldm, vstm: the base is the first operand. */
static void multiple_vectors(const struct arm *a, bool load, bool down)
{
	unsigned base_reg = a->arm->operands[0].reg;
	struct symbolic_value base = get(a, base_reg), end;
	int64_t size;

	if (a->arm->op_count < 2)
		return;
	size = vector_bytes(a, 1);
	end = symbolic_plus(base, down ? -size : size);
	if (a->arm->writeback)
		set(a, base_reg, end);
	transfer_vectors(a, 1, a->arm->op_count, load, down ? end : base);
}

/* ---- one register ---- */

static struct symbolic_value address_of(const struct arm *a, unsigned i)
{
	const cs_arm_op *op = &a->arm->operands[i];

	if (op->type != ARM_OP_MEM || op->mem.index != ARM_REG_INVALID)
		return symbolic_unknown();
	return symbolic_plus(get(a, op->mem.base), op->mem.disp);
}

/* ldr, str, ldrd, strd; the address update may be before or after. */
static void single(const struct arm *a, bool load, unsigned registers,
		   unsigned size)
{
	const cs_arm_op *ops = a->arm->operands;
	struct symbolic_value address = address_of(a, registers), value;
	unsigned base;

	if (a->arm->op_count <= registers ||
	    ops[registers].type != ARM_OP_MEM)
		return;
	base = ops[registers].mem.base;
	if (base == ARM_REG_PC && ops[registers].mem.index == ARM_REG_INVALID)
		a->step->literal = (uint64_t)(int64_t)ops[registers].mem.disp +
			((a->in->address + (a->decoder->thumb ? 4 : 8)) &
			 ~UINT64_C(3));
	if (a->arm->writeback) {
		struct symbolic_value moved = address;

		if (a->arm->op_count > registers + 1) {
			value = operand(a, registers + 1);
			moved = ops[registers + 1].subtracted ?
				symbolic_minus(address, value) :
				symbolic_add(address, value);
		}
		set(a, base, moved);
	}
	for (unsigned i = 0; i < registers; i++) {
		struct symbolic_value at = symbolic_plus(address, i * WORD);

		if (!load)
			symbolic_store(a->state, at, size, WORD,
				       get(a, ops[i].reg));
		else
			set(a, ops[i].reg, size == WORD ?
			    symbolic_load(a->state, at) : symbolic_unknown());
	}
}

static void arithmetic(const struct arm *a, bool minus)
{
	unsigned last = a->arm->op_count - 1u;
	struct symbolic_value from = operand(a, last > 1 ? 1 : 0);
	struct symbolic_value by = operand(a, last);

	set(a, a->arm->operands[0].reg, minus ? symbolic_minus(from, by) :
	    symbolic_add(from, by));
}

static void write_others(const struct arm *a)
{
	cs_regs read, written;
	uint8_t reads, writes;

	if (cs_regs_access(a->handle, a->in, read, &reads, written,
			   &writes) != CS_ERR_OK)
		return;
	for (unsigned i = 0; i < writes; i++)
		set(a, written[i], symbolic_unknown());
	for (unsigned i = 0; i < a->arm->op_count; i++)
		if (a->arm->operands[i].type == ARM_OP_MEM &&
		    a->in->mnemonic[0] != 'l' && a->in->mnemonic[1] != 'l')
			symbolic_store(a->state, address_of(a, i), 4 * WORD,
				       WORD, symbolic_unknown());
}

/* ---- dispatch ---- */

/* False: does not move d8 to d15 from or to the stack. */
static bool move_vectors(const struct arm *a)
{
	bool load = true;

	switch (a->in->id) {
	case ARM_INS_VPUSH: case ARM_INS_VPOP:
		push_vector(a, a->in->id == ARM_INS_VPOP);
		return true;
	case ARM_INS_VSTMDB: case ARM_INS_VSTMIA:
		load = false;
		/* fall through */
	case ARM_INS_VLDMDB: case ARM_INS_VLDMIA:
		multiple_vectors(a, load, a->in->id == ARM_INS_VSTMDB ||
				 a->in->id == ARM_INS_VLDMDB);
		return true;
	case ARM_INS_VLDR: case ARM_INS_VSTR:
		transfer_vectors(a, 0, 1, a->in->id == ARM_INS_VLDR,
				 address_of(a, 1));
		return true;
	default:
		return false;
	}
}

/* False: does not move values of interest. */
static bool move(const struct arm *a)
{
	switch (a->in->id) {
	case ARM_INS_PUSH:
		push(a);
		return true;
	case ARM_INS_POP:
		pop(a);
		return true;
	case ARM_INS_LDM: case ARM_INS_LDMDA: case ARM_INS_LDMDB:
	case ARM_INS_LDMIB:
		multiple(a, true, a->in->id == ARM_INS_LDMDA ||
			 a->in->id == ARM_INS_LDMDB,
			 a->in->id == ARM_INS_LDMDB ||
			 a->in->id == ARM_INS_LDMIB);
		return true;
	case ARM_INS_STM: case ARM_INS_STMDA: case ARM_INS_STMDB:
	case ARM_INS_STMIB:
		multiple(a, false, a->in->id == ARM_INS_STMDA ||
			 a->in->id == ARM_INS_STMDB,
			 a->in->id == ARM_INS_STMDB ||
			 a->in->id == ARM_INS_STMIB);
		return true;
	case ARM_INS_LDR: case ARM_INS_STR:
		single(a, a->in->id == ARM_INS_LDR, 1, WORD);
		return true;
	case ARM_INS_LDRD: case ARM_INS_STRD:
		single(a, a->in->id == ARM_INS_LDRD, 2, WORD);
		return true;
	case ARM_INS_STRB: case ARM_INS_STRH:
		single(a, false, 1, a->in->id == ARM_INS_STRB ? 1 : 2);
		return true;
	case ARM_INS_ADD: case ARM_INS_ADDW:
	case ARM_INS_SUB: case ARM_INS_SUBW:
		arithmetic(a, a->in->id == ARM_INS_SUB ||
			   a->in->id == ARM_INS_SUBW);
		return true;
	case ARM_INS_MOV: case ARM_INS_MOVW:
		set(a, a->arm->operands[0].reg, operand(a, 1));
		return true;
	default:
		return false;
	}
}

static void set_target(const struct arm *a, unsigned i)
{
	if (i >= a->arm->op_count || a->arm->operands[i].type != ARM_OP_IMM)
		return;
	a->step->has_target = true;
	a->step->target = (uint32_t)a->arm->operands[i].imm & ~1u;
}

/* False: execution continues at the next instruction. */
static bool branch(const struct arm *a)
{
	bool always = a->arm->cc == ARM_CC_AL || a->arm->cc == ARM_CC_INVALID;

	switch (a->in->id) {
	case ARM_INS_B:
		a->step->flow = always ? MACHINE_JUMP : MACHINE_BRANCH;
		set_target(a, 0);
		return true;
	case ARM_INS_CBZ: case ARM_INS_CBNZ:
		a->step->flow = MACHINE_BRANCH;
		set_target(a, 1);
		return true;
	case ARM_INS_BL: case ARM_INS_BLX:
		a->step->flow = MACHINE_CALL;
		a->step->thumb = a->decoder->thumb ==
			(a->in->id == ARM_INS_BL);
		set_target(a, 0);
		return true;
	case ARM_INS_BX: case ARM_INS_BXJ:
		set(a, ARM_REG_PC, operand(a, 0));
		return true;
	case ARM_INS_TBB: case ARM_INS_TBH:
		a->step->flow = MACHINE_JUMP;
		return true;
	case ARM_INS_UDF: case ARM_INS_TRAP: case ARM_INS_BKPT:
		a->step->flow = MACHINE_STOP;
		return true;
	case ARM_INS_SVC:
		a->state->reg[0] = symbolic_unknown();
		return true;
	default:
		return false;
	}
}

/* Executes a decoded instruction; conditional: it may have no effect. */
static void execute(const struct arm *a, bool conditional)
{
	struct symbolic_state before = *a->state;

	if (!branch(a) && !move(a) && !move_vectors(a))
		write_others(a);
	if (!conditional || a->step->flow == MACHINE_CALL)
		return;
	if (a->step->flow == MACHINE_RETURN || a->step->flow == MACHINE_STOP) {
		*a->state = before;	/* on the path that continues, it had no
					 * effect */
		a->step->flow = MACHINE_NEXT;
		return;
	}
	if (a->step->flow == MACHINE_JUMP)
		a->step->flow = MACHINE_BRANCH;
	if (a->in->id != ARM_INS_B)
		symbolic_join(a->state, &before);
}

static bool decode(const struct arm *a, uint64_t *address,
		   const uint8_t **bytes, size_t *left)
{
	return cs_disasm_iter(a->handle, bytes, left, address,
			      a->decoder->instruction);
}

/* The number of instructions that depend on an IT. */
static unsigned it_count(const uint8_t *bytes)
{
	unsigned mask = bytes[0] & 15, count = 4;

	if (bytes[1] != 0xbf || mask == 0)
		return 0;
	for (; !(mask & 1); mask >>= 1)
		count--;
	return count;
}

/* Capstone 5 classifies nop as a hint. */
static bool is_nop(const cs_insn *in)
{
	return in->id == ARM_INS_NOP || (in->id == ARM_INS_HINT &&
					 strncmp(in->mnemonic, "nop", 3) == 0);
}

static void step_arm(struct machine_decoder *decoder, uint64_t address,
		     const uint8_t *bytes, size_t left,
		     struct symbolic_state *state, struct machine_step *step)
{
	const cs_insn *in = decoder->instruction;
	struct arm a = {
		.decoder = decoder, .in = in, .state = state, .step = step,
		.handle = decoder->thumb ? decoder->thumb_handle :
			decoder->handle,
	};
	const uint8_t *at = bytes;
	unsigned more;
	bool conditional;

	*step = (struct machine_step){ .flow = MACHINE_BAD };
	more = decoder->thumb && left >= 2 ? it_count(bytes) : 0;
	if (!decode(&a, &address, &at, &left))
		return;
	a.arm = &in->detail->arm;
	step->flow = MACHINE_NEXT;
	step->nothing = is_nop(in);
	conditional = a.arm->cc != ARM_CC_AL && a.arm->cc != ARM_CC_INVALID;
	if (more == 0)
		execute(&a, conditional);
	for (; more > 0 && step->flow == MACHINE_NEXT; more--) {
		if (!decode(&a, &address, &at, &left)) {
			step->flow = MACHINE_BAD;
			return;
		}
		a.arm = &in->detail->arm;
		execute(&a, true);
	}
	step->size = (uint8_t)(at - bytes);
}

/* push {…, lr}; str lr, [sp, #-4]! */
static bool begins_arm(const struct machine_decoder *decoder,
		       const uint8_t *bytes, size_t left)
{
	unsigned first, second;

	if (left < 4)
		return false;
	first = bytes[0] | (unsigned)bytes[1] << 8;
	second = bytes[2] | (unsigned)bytes[3] << 8;
	/* sub sp, #n or push {r0 … r3} may precede it: for arguments */
	if (decoder->thumb && ((first & 0xff80) == 0xb080 ||
			       (first & 0xfff0) == 0xb400))
		return second >> 8 == 0xb5 ||
			(second == 0xe92d && left >= 6 && bytes[5] >> 6 & 1);
	if (decoder->thumb)
		return first >> 8 == 0xb5 ||
			(first == 0xe92d && second >> 14 & 1) ||
			(first == 0xf84d && second == 0xed04);
	return (second == 0xe92d && first >> 14 & 1) ||
		(second == 0xe52d && first == 0xe004);
}

const struct machine machine_arm = {
	.elf_machine = EM_ARM, .wide = false,
	.arch = CS_ARCH_ARM, .mode = CS_MODE_ARM,
	.word = WORD, .alignment = 2,
	.sp = SP, .ra = LR, .fp = { 7, 11 },
	.float_column = 264, .half_column = 80,		/* d8, s16 */
	/* r4 to r11, d8 to d15 */
	.preserved = 0xff0 | UINT64_C(0xff) << SYMBOLIC_FLOATS,
	.step = step_arm,
	.begins = begins_arm,
	.find_table = machine_arm_table,
};
