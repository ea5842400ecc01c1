/*
 * machine.c: see machine.h.
 */
#include "cli/symbol/cfi/machine.h"

#include <elf.h>
#include <stdio.h>

#include "unwind/base/assertion.h"

static const struct machine *const machines[] = {
	&machine_x86_64, &machine_aarch64, &machine_mips64, &machine_arm,
};

const struct machine *machine_of(unsigned elf_machine, bool wide)
{
	for (size_t i = 0; i < sizeof(machines) / sizeof(*machines); i++)
		if (machines[i]->elf_machine == elf_machine &&
		    machines[i]->wide == wide)
			return machines[i];
	return NULL;
}

bool machine_open(struct machine_decoder *decoder,
		  const struct machine *machine, bool big)
{
	cs_mode mode = machine->mode | (big ? CS_MODE_BIG_ENDIAN : 0);

	*decoder = (struct machine_decoder){ .machine = machine, .big = big };
	if (cs_open(machine->arch, mode, &decoder->handle) != CS_ERR_OK)
		return false;
	cs_option(decoder->handle, CS_OPT_DETAIL, CS_OPT_ON);
	decoder->instruction = cs_malloc(decoder->handle);
	if (machine->elf_machine == EM_ARM &&
	    cs_open(machine->arch, mode | CS_MODE_THUMB,
		    &decoder->thumb_handle) == CS_ERR_OK)
		cs_option(decoder->thumb_handle, CS_OPT_DETAIL, CS_OPT_ON);
	return decoder->instruction != NULL;
}

void machine_close(struct machine_decoder *decoder)
{
	if (decoder->instruction != NULL)
		cs_free(decoder->instruction, 1);
	if (decoder->handle != 0)
		cs_close(&decoder->handle);
	if (decoder->thumb_handle != 0)
		cs_close(&decoder->thumb_handle);
}

void machine_begin(const struct machine *machine,
		   struct symbolic_state *state)
{
	symbolic_begin(state);
	state->reg[machine->sp] = symbolic_cfa(-(int)machine->entry_offset);
	if (machine->ra_on_stack)
		symbolic_store(state, symbolic_cfa(-(int)machine->word),
			       machine->word, machine->word,
			       symbolic_entry(machine->ra));
}

void machine_return(const struct machine *machine,
		    struct symbolic_state *state)
{
	DEBUG_ASSERT(!(machine->preserved >> machine->sp & 1));
	for (unsigned i = 0; i < SYMBOLIC_REGS; i++)
		if (i != machine->sp && !(machine->preserved >> i & 1) &&
		    !(machine->ra_on_stack && i == machine->ra))
			state->reg[i] = symbolic_unknown();
}

int machine_register(const struct machine *machine, unsigned column)
{
	if (column < SYMBOLIC_FLOATS)
		return (int)column;
	if (machine->float_column != 0 && column >= machine->float_column &&
	    column - machine->float_column < SYMBOLIC_REGS - SYMBOLIC_FLOATS)
		return (int)(SYMBOLIC_FLOATS + column - machine->float_column);
	return -1;
}

int machine_column(const struct machine *machine, unsigned reg)
{
	if (reg < SYMBOLIC_FLOATS)
		return (int)reg;
	return machine->float_column == 0 ? -1 :
		(int)(machine->float_column + reg - SYMBOLIC_FLOATS);
}

const char *machine_register_name(const struct machine *machine,
				  unsigned column, char text[16])
{
	static const char *const x86[] = {
		"rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp", "r8",
		"r9", "r10", "r11", "r12", "r13", "r14", "r15", "ra" };
	const char *letter = "r";

	if (column >= 512)
		return "";
	switch (machine->elf_machine) {
	case EM_X86_64:
		if (column < sizeof(x86) / sizeof(*x86))
			return x86[column];
		break;
	case EM_AARCH64:
		letter = column >= 64 ? "v" : "x";
		if (column == machine->sp)
			return "sp";
		if (column == 46)	/* DWARF for Arm 64-bit (AADWARF64) */
			return "vg";
		column -= column >= 64 ? 64 : 0;
		break;
	case EM_ARM:
		letter = column >= 256 ? "d" : column >= 64 ? "s" : "r";
		if (column == machine->sp)
			return "sp";
		if (column == machine->ra)
			return "lr";
		column -= column >= 256 ? 256 : column >= 64 ? 64 : 0;
		break;
	case EM_MIPS:
		letter = column >= 32 ? "f" : "$";
		if (column == machine->sp)
			return "sp";
		if (column == machine->ra)
			return "ra";
		column -= column >= 32 ? 32 : 0;
		break;
	}
	snprintf(text, 16, "%s%u", letter, column % 512);
	return text;
}
