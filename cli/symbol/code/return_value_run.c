/*
 * return_value_run.c: see return_value_run.h. Called by the main thread.
 *
 * Registers are known or unknown. An instruction other than those below ends
 * the run: it might change the result. Stores go only to the stack, and values
 * loaded from there are unknown.
 */
#include "cli/symbol/code/return_value_run.h"

#include <elf.h>
#include <string.h>

#include <capstone/capstone.h>

#include "cli/symbol/code/mips_table.h"

#define REGISTERS 512		/* above all of Capstone's numbers */

enum verdict { GO_ON, RETURNS, REFUSED };

struct run {
	const struct elf_tables *elf;
	const uint8_t *code;
	size_t size;
	uint64_t address;
	bool thumb;
	bool known[REGISTERS];
	bool placed[REGISTERS];	/* an address, which moves with the file */
	uint64_t value[REGISTERS];
};

static void set(struct run *run, unsigned reg, bool known, uint64_t value)
{
	if (reg < REGISTERS) {
		run->known[reg] = known;
		run->placed[reg] = false;
		run->value[reg] = value;
	}
}

/* The register gets an address in the file. */
static void place(struct run *run, unsigned reg, uint64_t value)
{
	set(run, reg, true, value);
	if (reg < REGISTERS)
		run->placed[reg] = true;
}

static void copy(struct run *run, unsigned to, unsigned from)
{
	bool placed = from < REGISTERS && run->placed[from];

	set(run, to, from < REGISTERS && run->known[from],
	    run->value[from % REGISTERS]);
	if (to < REGISTERS)
		run->placed[to] = placed;
}

static bool known(const struct run *run, unsigned reg)
{
	return reg < REGISTERS && run->known[reg];
}

/* ---- ARM ---- */

/* The pc value that instructions read. */
static uint64_t arm_pc(const struct run *run, const cs_insn *i)
{
	return i->address + (run->thumb ? 4 : 8);
}

/* Load of a constant between the instructions. */
static enum verdict arm_load(struct run *run, const cs_insn *i)
{
	const cs_arm_op *ops = i->detail->arm.operands;
	uint64_t at;
	uint32_t word;

	if (ops[0].type != ARM_OP_REG || ops[1].type != ARM_OP_MEM)
		return REFUSED;
	if (ops[1].mem.base == ARM_REG_SP) {	/* reloads the frame pointer */
		set(run, ops[0].reg, false, 0);
		return GO_ON;
	}
	if (ops[1].mem.base != ARM_REG_PC ||
	    ops[1].mem.index != ARM_REG_INVALID)
		return REFUSED;
	at = (arm_pc(run, i) & ~UINT64_C(3)) +
		(uint64_t)(int64_t)ops[1].mem.disp - run->address;
	if (run->size < sizeof(word) || at > run->size - sizeof(word))
		return REFUSED;
	memcpy(&word, run->code + at, sizeof(word));
	set(run, ops[0].reg, true, elf_class_word(run->elf->class, word));
	return GO_ON;
}

/* A sum with pc is an address of the file, one with sp an address of the
 * frame. */
static enum verdict arm_add(struct run *run, const cs_insn *i)
{
	const cs_arm *arm = &i->detail->arm;
	const cs_arm_op *ops = arm->operands;
	const cs_arm_op *one = &ops[arm->op_count - 2];
	const cs_arm_op *other = &ops[arm->op_count - 1];

	if (arm->op_count == 3 && one->type == ARM_OP_REG &&
	    (one->reg == ARM_REG_SP || ops[0].reg == ARM_REG_SP)) {
		set(run, ops[0].reg, false, 0);
		return GO_ON;
	}
	if (one->type == ARM_OP_REG && one->reg == ARM_REG_PC) {
		one = other;
		other = &ops[1];
	}
	if (one->type != ARM_OP_REG || other->type != ARM_OP_REG ||
	    other->reg != ARM_REG_PC || !known(run, one->reg) ||
	    one->shift.type != ARM_SFT_INVALID)
		return REFUSED;
	place(run, ops[0].reg,
	      (uint32_t)(run->value[one->reg] + arm_pc(run, i)));
	return GO_ON;
}

/* Pops the frame pointer and the return address. */
static enum verdict arm_pop(struct run *run, const cs_arm *arm)
{
	const cs_arm_op *ops = arm->operands;
	unsigned last = ops[arm->op_count - 1].reg;

	if (ops[0].reg != ARM_REG_R7 && ops[0].reg != ARM_REG_R11)
		return REFUSED;
	set(run, ops[0].reg, false, 0);
	if (arm->op_count == 1)
		return GO_ON;
	return arm->op_count == 2 && last == ARM_REG_PC ? RETURNS : REFUSED;
}

static enum verdict step_arm(struct run *run, const cs_insn *i)
{
	const cs_arm_op *ops = i->detail->arm.operands;

	if (i->detail->arm.cc != ARM_CC_AL && i->detail->arm.cc != 0)
		return REFUSED;
	switch (i->id) {
	case ARM_INS_BX:
		return ops[0].reg == ARM_REG_LR ? RETURNS : REFUSED;
	case ARM_INS_NOP:
	case ARM_INS_HINT:	/* as Capstone 5 classifies nop */
	case ARM_INS_PUSH:
		return GO_ON;
	case ARM_INS_POP:
		return arm_pop(run, &i->detail->arm);
	case ARM_INS_STR:
		return ops[1].mem.base == ARM_REG_SP ? GO_ON : REFUSED;
	case ARM_INS_LDR:
		return arm_load(run, i);
	case ARM_INS_ADD:
		return arm_add(run, i);
	case ARM_INS_MOV:
		if (ops[1].type == ARM_OP_IMM)
			set(run, ops[0].reg, true, (uint32_t)ops[1].imm);
		else if (ops[1].type == ARM_OP_REG)
			copy(run, ops[0].reg, ops[1].reg);
		else
			return REFUSED;
		return GO_ON;
	default:
		return REFUSED;
	}
}

/* ---- MIPS ---- */

static bool mips_is_stack(unsigned reg)
{
	return reg == MIPS_REG_SP || reg == MIPS_REG_FP;
}

static enum verdict mips_load(struct run *run, const cs_mips_op *ops)
{
	struct mips_table table;
	uint64_t at;

	if (ops[1].type != MIPS_OP_MEM)
		return REFUSED;
	if (mips_is_stack(ops[1].mem.base)) {
		set(run, ops[0].reg, false, 0);
		return GO_ON;
	}
	if (!known(run, ops[1].mem.base) || !mips_table_of(run->elf, &table))
		return REFUSED;
	at = run->value[ops[1].mem.base] + (uint64_t)ops[1].mem.disp -
		table.address;
	if (at % sizeof(uint64_t) || at / sizeof(uint64_t) >= table.locals)
		return REFUSED;
	place(run, ops[0].reg,
	      mips_table_word(run->elf, &table, at / sizeof(uint64_t)));
	return GO_ON;
}

static enum verdict mips_add(struct run *run, const cs_mips_op *ops)
{
	unsigned to = ops[0].reg, one = ops[1].reg;
	bool is_known = known(run, one);
	bool placed = one < REGISTERS && run->placed[one];
	uint64_t sum;

	if (ops[2].type == MIPS_OP_IMM) {
		sum = (uint64_t)ops[2].imm;
	} else {
		is_known = is_known && known(run, ops[2].reg);
		placed |= is_known && run->placed[ops[2].reg];
		sum = run->value[ops[2].reg % REGISTERS];
	}
	set(run, to, is_known, sum + run->value[one % REGISTERS]);
	if (to < REGISTERS)
		run->placed[to] = placed;
	return GO_ON;
}

static enum verdict step_mips(struct run *run, const cs_insn *i)
{
	const cs_mips_op *ops = i->detail->mips.operands;

	switch (i->id) {
	case MIPS_INS_JR:
		return ops[0].reg == MIPS_REG_RA ? RETURNS : REFUSED;
	case MIPS_INS_NOP:
		return GO_ON;
	case MIPS_INS_SD:
		return mips_is_stack(ops[1].mem.base) ? GO_ON : REFUSED;
	case MIPS_INS_LUI:
		set(run, ops[0].reg, true,
		    (uint64_t)(int64_t)(int32_t)((uint32_t)ops[1].imm << 16));
		return GO_ON;
	case MIPS_INS_LD:
		return mips_load(run, ops);
	case MIPS_INS_DADDU:
	case MIPS_INS_DADDIU:
	case MIPS_INS_ADDIU:
		return mips_add(run, ops);
	case MIPS_INS_MOVE:
		copy(run, ops[0].reg, ops[1].reg);
		return GO_ON;
	default:
		return REFUSED;
	}
}

/* ---- both ---- */

struct machine {
	unsigned elf;
	cs_arch arch;
	cs_mode mode;
	enum verdict (*step)(struct run *run, const cs_insn *i);
	unsigned result;	/* register */
	bool delays;		/* with a delay slot after the return */
};

static const struct machine machines[] = {
	{ EM_ARM, CS_ARCH_ARM, CS_MODE_ARM, step_arm, ARM_REG_R0, false },
	{ EM_MIPS, CS_ARCH_MIPS, CS_MODE_MIPS64, step_mips, MIPS_REG_V0, true },
};

static enum verdict follow(struct run *run, const struct machine *machine,
			   csh handle)
{
	const uint8_t *code = run->code;
	cs_insn *instruction = cs_malloc(handle);
	enum verdict verdict = GO_ON;
	uint64_t address = run->address;
	size_t size = run->size;
	bool returned = false;

	for (bool last = false; verdict == GO_ON && !last;) {
		last = returned;
		verdict = cs_disasm_iter(handle, &code, &size, &address,
					 instruction) ?
			machine->step(run, instruction) : REFUSED;
		if (verdict == RETURNS && machine->delays && !returned) {
			returned = true;
			verdict = GO_ON;
		} else if (last && verdict == GO_ON) {
			verdict = RETURNS;
		}
	}
	cs_free(instruction, 1);
	return verdict;
}

bool return_value_run(const struct elf_tables *elf, const uint8_t *code,
		      size_t size, uint64_t address, uint64_t *value,
		      bool *absolute)
{
	const struct machine *machine = NULL;
	struct run run = { .elf = elf, .code = code, .size = size };
	enum verdict verdict;
	cs_mode mode;
	csh handle;

	for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++)
		if (machines[i].elf == elf->header.e_machine)
			machine = &machines[i];
	if (machine == NULL)
		return false;
	run.thumb = machine->elf == EM_ARM && address & 1;
	run.address = address - run.thumb;
	set(&run, MIPS_REG_ZERO, machine->elf == EM_MIPS, 0);
	/* t9 has the function's address, by the calling convention */
	if (machine->elf == EM_MIPS)
		place(&run, MIPS_REG_T9, address);
	mode = run.thumb ? CS_MODE_THUMB : machine->mode;
	if (cs_open(machine->arch, mode | (elf->class->big ?
		    CS_MODE_BIG_ENDIAN : 0), &handle) != CS_ERR_OK)
		return false;
	cs_option(handle, CS_OPT_DETAIL, CS_OPT_ON);
	verdict = follow(&run, machine, handle);
	cs_close(&handle);
	*value = run.value[machine->result];
	*absolute = !run.placed[machine->result];
	return verdict == RETURNS && run.known[machine->result];
}
