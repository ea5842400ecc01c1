/*
 * return_value.c: see return_value.h. Called by the main thread.
 *
 * A result is accepted only if each instruction, from the first to the return,
 * belongs to a compiler's prologue or epilogue, or puts a constant address into
 * the result register. All others (a call, a branch, a load) may change the
 * result. For the same reason, the text must be in a read-only segment.
 *
 *	x86-64  lea rax, [rip + n]; mov eax, n    in between: endbr64, push
 *	i386    mov eax, n                        rbp, mov rbp, rsp, pop, nop
 *	arm64   adr x0, n; adrp x0, n and add x0, x0, n
 *	arm, mips64			see return_value_run.h
 *
 * Addresses are those of the file; in a library they are relative to its load
 * address, as are the results of `lea`. `mov eax, n` is an address only in a
 * program with fixed addresses.
 */
#include "cli/symbol/code/return_value.h"

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <capstone/capstone.h>

#include "cli/base/grow.h"
#include "cli/base/io_full.h"
#include "cli/symbol/code/return_value_run.h"
#include "cli/symbol/elf/elf_symbols.h"

#define CODE_MAX 128		/* bytes of a function, at most */

/* The effect of its instructions so far. */
struct result {
	bool known;
	bool absolute;		/* not relative to where the file is loaded */
	uint64_t address;
};

enum verdict { GO_ON, RETURNS, REFUSED };

struct machine {
	unsigned elf;
	cs_arch arch;
	cs_mode mode;
	enum verdict (*step)(const cs_insn *i, struct result *result);
};

/* ---- instructions ---- */

static bool is_move(const cs_insn *i, x86_reg to, x86_reg from)
{
	const cs_x86_op *ops = i->detail->x86.operands;

	return i->id == X86_INS_MOV && ops[0].type == X86_OP_REG &&
		ops[1].type == X86_OP_REG && ops[0].reg == to &&
		ops[1].reg == from;
}

static bool takes_result(const cs_insn *i, struct result *result)
{
	const cs_x86_op *ops = i->detail->x86.operands;

	if (ops[0].type != X86_OP_REG ||
	    (ops[0].reg != X86_REG_RAX && ops[0].reg != X86_REG_EAX))
		return false;
	if (i->id == X86_INS_LEA && ops[1].mem.base == X86_REG_RIP &&
	    ops[1].mem.index == X86_REG_INVALID)
		result->address = i->address + i->size +
			(uint64_t)ops[1].mem.disp;
	else if (i->id == X86_INS_MOV && ops[1].type == X86_OP_IMM)
		result->address = (uint64_t)ops[1].imm;
	else
		return false;
	result->absolute = i->id == X86_INS_MOV;
	result->known = true;
	return true;
}

static enum verdict step_x86(const cs_insn *i, struct result *result)
{
	const cs_x86_op *ops = i->detail->x86.operands;

	switch (i->id) {
	case X86_INS_RET:
		return RETURNS;
	case X86_INS_ENDBR64:
	case X86_INS_ENDBR32:
	case X86_INS_NOP:
	case X86_INS_LEAVE:
		return GO_ON;
	case X86_INS_PUSH:
	case X86_INS_POP:
		return ops[0].type == X86_OP_REG &&
			(ops[0].reg == X86_REG_RBP ||
			 ops[0].reg == X86_REG_EBP) ? GO_ON : REFUSED;
	case X86_INS_MOV:
		if (is_move(i, X86_REG_RBP, X86_REG_RSP) ||
		    is_move(i, X86_REG_EBP, X86_REG_ESP))
			return GO_ON;
		return takes_result(i, result) ? GO_ON : REFUSED;
	case X86_INS_LEA:
		return takes_result(i, result) ? GO_ON : REFUSED;
	default:
		return REFUSED;
	}
}

static enum verdict step_arm64(const cs_insn *i, struct result *result)
{
	const cs_arm64_op *ops = i->detail->arm64.operands;

	switch (i->id) {
	case ARM64_INS_RET:
		return RETURNS;
	case ARM64_INS_NOP:
	case ARM64_INS_HINT:	/* bti, paciasp, autiasp */
		return GO_ON;
	case ARM64_INS_ADR:
	case ARM64_INS_ADRP:
		if (ops[0].reg != ARM64_REG_X0)
			return REFUSED;
		result->address = (uint64_t)ops[1].imm;
		result->known = true;
		return GO_ON;
	case ARM64_INS_ADD:
		if (!result->known || ops[0].reg != ARM64_REG_X0 ||
		    ops[1].reg != ARM64_REG_X0 || ops[2].type != ARM64_OP_IMM)
			return REFUSED;
		result->address += (uint64_t)ops[2].imm << ops[2].shift.value;
		return GO_ON;
	default:
		return REFUSED;
	}
}

static const struct machine machines[] = {
	{ EM_X86_64, CS_ARCH_X86, CS_MODE_64, step_x86 },
	{ EM_386, CS_ARCH_X86, CS_MODE_32, step_x86 },
	{ EM_AARCH64, CS_ARCH_ARM64, CS_MODE_ARM, step_arm64 },
};

static bool run(const struct machine *machine, const uint8_t *code,
		size_t size, uint64_t address, struct result *result)
{
	enum verdict verdict = GO_ON;
	cs_insn *instruction;
	csh handle;

	assert(size <= CODE_MAX);
	if (cs_open(machine->arch, machine->mode, &handle) != CS_ERR_OK)
		return false;
	cs_option(handle, CS_OPT_DETAIL, CS_OPT_ON);
	instruction = cs_malloc(handle);
	while (verdict == GO_ON)
		verdict = cs_disasm_iter(handle, &code, &size, &address,
					 instruction) ?
			machine->step(instruction, result) : REFUSED;
	cs_free(instruction, 1);
	cs_close(&handle);
	return verdict == RETURNS && result->known;
}

/* ---- the file ---- */

struct wanted {
	const char *name;
	Elf64_Sym found;
	bool is_found;
};

static bool is_another(void *owner, const Elf64_Sym *symbol, const char *name,
		       uint32_t section)
{
	struct wanted *wanted = owner;

	if (section == SHN_UNDEF ||
	    ELF64_ST_TYPE(symbol->st_info) != STT_FUNC ||
	    strcmp(name, wanted->name) != 0)
		return true;
	wanted->found = *symbol;
	wanted->is_found = true;
	return false;
}

static bool find_function(const struct elf_tables *elf, const char *name,
			  Elf64_Sym *found)
{
	const Elf64_Shdr *tables[] = { elf_tables_of_type(elf, SHT_DYNSYM),
				       elf_tables_of_type(elf, SHT_SYMTAB) };
	struct wanted wanted = { .name = name };

	for (size_t i = 0; i < 2 && !wanted.is_found; i++)
		if (tables[i] != NULL)
			elf_symbols_each(elf, tables[i], is_another, &wanted);
	*found = wanted.found;
	return wanted.is_found;
}

/* Reads bytes at an address, in a segment without the flag; returns their
 * number. */
static size_t read_at(const struct elf_tables *elf, uint64_t address,
		      uint32_t without, void *bytes, size_t size)
{
	for (uint32_t i = 0; i < elf->phdrs; i++) {
		const Elf64_Phdr *segment = &elf->phdr[i];
		uint64_t left;
		ssize_t got;

		if (segment->p_type != PT_LOAD ||
		    address < segment->p_vaddr ||
		    address - segment->p_vaddr >= segment->p_filesz)
			continue;
		if (segment->p_flags & without)
			return 0;
		left = segment->p_filesz - (address - segment->p_vaddr);
		got = io_full_read_at(elf->fd, bytes, left < size ? left : size,
				      segment->p_offset +
				      (address - segment->p_vaddr));
		assert(got <= (ssize_t)size);
		return got > 0 ? (size_t)got : 0;
	}
	return 0;
}

static enum returned look(const struct elf_tables *elf, const char *function,
			  char **text)
{
	const struct machine *machine = NULL;
	struct result result = { 0 };
	uint8_t code[CODE_MAX];
	Elf64_Sym symbol;
	uint64_t thumb;
	size_t size;
	char *found;

	if (!find_function(elf, function, &symbol))
		return RETURNED_NO_FUNCTION;
	for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++)
		if (machines[i].elf == elf->header.e_machine)
			machine = &machines[i];
	thumb = elf->header.e_machine == EM_ARM ? symbol.st_value & 1 : 0;
	size = read_at(elf, symbol.st_value - thumb, PF_W, code, sizeof(code));
	if (symbol.st_size > 0 && symbol.st_size < size)
		size = symbol.st_size;
	if (machine != NULL ?
	    !run(machine, code, size, symbol.st_value, &result) :
	    !return_value_run(elf, code, size, symbol.st_value, &result.address,
			      &result.absolute))
		return RETURNED_UNKNOWN;
	/* A null pointer means no text. Other absolute numbers are no addresses
	 * in a file that may be loaded anywhere. */
	if (result.absolute && result.address == 0) {
		*text = grow_copy("", 0);
		return RETURNED_TEXT;
	}
	if (result.absolute && elf->header.e_type != ET_EXEC)
		return RETURNED_UNKNOWN;
	found = grow_alloc(RETURNED_TEXT_MAX);
	size = read_at(elf, result.address, PF_W, found, RETURNED_TEXT_MAX);
	if (memchr(found, 0, size) == NULL) {
		free(found);
		return RETURNED_UNKNOWN;
	}
	*text = found;
	return RETURNED_TEXT;
}

enum returned return_value_text(int fd, const char *function, char **text)
{
	enum returned returned;
	struct elf_tables elf;

	if (elf_tables_load(&elf, fd) != 0)
		return RETURNED_NO_FUNCTION;
	returned = look(&elf, function, text);
	elf_tables_free(&elf);
	return returned;
}
