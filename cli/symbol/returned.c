/*
 * returned.c: see returned.h. Called by the main thread.
 *
 * A function is believed if each of its instructions, from the first to the
 * return, is one of those with which compilers begin and end functions, or
 * one that puts a constant address where results are returned. Anything else
 * (a call, a branch, a load) may change what it returns. The text has to lie
 * in a segment that cannot be written to, for the same reason.
 *
 *	x86-64  lea rax, [rip + n]; mov eax, n    in between: endbr64, push
 *	i386    mov eax, n                        rbp, mov rbp, rsp, pop, nop
 *	arm64   adr x0, n; adrp x0, n and add x0, x0, n
 *
 * Addresses are those of the file: of a library they are relative to where it
 * is loaded, and so is what `lea` makes of them. `mov eax, n` is an address
 * only in a program that has a fixed one.
 */
#include "cli/symbol/returned.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <capstone/capstone.h>
#include <gelf.h>

#include "cli/base/grow.h"

#define CODE_MAX 128		/* bytes of a function that is believed */

/* What its instructions have come to. */
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

static bool find_in(Elf *elf, Elf_Scn *section, const char *name,
		    GElf_Sym *found)
{
	Elf_Data *data = elf_getdata(section, NULL);
	GElf_Shdr header;
	size_t count;

	if (data == NULL || gelf_getshdr(section, &header) == NULL ||
	    header.sh_entsize == 0)
		return false;
	count = data->d_size / header.sh_entsize;
	for (size_t i = 0; i < count && i <= INT32_MAX; i++) {
		const char *own;

		if (gelf_getsym(data, (int)i, found) == NULL)
			return false;
		if (found->st_shndx == SHN_UNDEF ||
		    GELF_ST_TYPE(found->st_info) != STT_FUNC)
			continue;
		own = elf_strptr(elf, header.sh_link, found->st_name);
		if (own != NULL && strcmp(own, name) == 0)
			return true;
	}
	return false;
}

static bool find_function(Elf *elf, const char *name, GElf_Sym *found)
{
	Elf_Scn *section = NULL;

	while ((section = elf_nextscn(elf, section)) != NULL) {
		GElf_Shdr header;

		if (gelf_getshdr(section, &header) != NULL &&
		    (header.sh_type == SHT_SYMTAB ||
		     header.sh_type == SHT_DYNSYM) &&
		    find_in(elf, section, name, found))
			return true;
	}
	return false;
}

/* Bytes at an address, of a segment without the flag; how many. */
static size_t read_at(Elf *elf, int fd, uint64_t address, uint32_t without,
		      void *bytes, size_t size)
{
	size_t count;

	if (elf_getphdrnum(elf, &count) != 0)
		return 0;
	for (size_t i = 0; i < count && i <= INT32_MAX; i++) {
		GElf_Phdr segment;
		uint64_t left;
		ssize_t got;

		if (gelf_getphdr(elf, (int)i, &segment) == NULL ||
		    segment.p_type != PT_LOAD ||
		    address < segment.p_vaddr ||
		    address - segment.p_vaddr >= segment.p_filesz)
			continue;
		if (segment.p_flags & without)
			return 0;
		left = segment.p_filesz - (address - segment.p_vaddr);
		got = pread(fd, bytes, left < size ? left : size,
			    (off_t)(segment.p_offset +
				    (address - segment.p_vaddr)));
		return got > 0 ? (size_t)got : 0;
	}
	return 0;
}

static enum returned look(Elf *elf, int fd, const char *function, char **text)
{
	const struct machine *machine = NULL;
	struct result result = { 0 };
	uint8_t code[CODE_MAX];
	GElf_Ehdr header;
	GElf_Sym symbol;
	size_t size;
	char *found;

	if (gelf_getehdr(elf, &header) == NULL ||
	    !find_function(elf, function, &symbol))
		return RETURNED_NO_FUNCTION;
	for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++)
		if (machines[i].elf == header.e_machine)
			machine = &machines[i];
	size = read_at(elf, fd, symbol.st_value, PF_W, code, sizeof(code));
	if (symbol.st_size > 0 && symbol.st_size < size)
		size = symbol.st_size;
	if (machine == NULL ||
	    !run(machine, code, size, symbol.st_value, &result))
		return RETURNED_UNKNOWN;
	/* A null pointer: nothing to say. No other number is an address in
	 * what may be loaded anywhere. */
	if (result.absolute && result.address == 0) {
		*text = grow_copy("", 0);
		return RETURNED_TEXT;
	}
	if (result.absolute && header.e_type != ET_EXEC)
		return RETURNED_UNKNOWN;
	found = grow_alloc(RETURNED_TEXT_MAX);
	size = read_at(elf, fd, result.address, PF_W, found,
		       RETURNED_TEXT_MAX);
	if (memchr(found, 0, size) == NULL) {
		free(found);
		return RETURNED_UNKNOWN;
	}
	*text = found;
	return RETURNED_TEXT;
}

enum returned returned_text(int fd, const char *function, char **text)
{
	enum returned returned = RETURNED_NO_FUNCTION;
	Elf *elf;

	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (elf == NULL)
		return returned;
	if (elf_kind(elf) == ELF_K_ELF)
		returned = look(elf, fd, function, text);
	elf_end(elf);
	return returned;
}
