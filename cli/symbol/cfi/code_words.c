/*
 * code_words.c: see code_words.h.
 */
#include "cli/symbol/cfi/code_words.h"

#include <elf.h>
#include <string.h>

#include "unwind/base/assertion.h"

/* MIPS' table has entries for pages of data; data is addressed from the page's
 * start. */
#define MIPS_PAGE 0x10000u

struct search {
	const struct binary *binary;
	const struct elf_tables *tables;
	void (*word)(void *owner, uint64_t address);
	void *owner;
};

static bool is_wanted(const struct elf_tables *t, const Elf64_Shdr *section)
{
	return section->sh_type == SHT_INIT_ARRAY ||
	       section->sh_type == SHT_FINI_ARRAY ||
	       section->sh_type == SHT_PREINIT_ARRAY ||
	       strcmp(elf_tables_name(t, section), ".got") == 0;
}

static bool is_in_wanted(const struct elf_tables *t, uint64_t address)
{
	for (uint32_t i = 0; i < t->sections; i++)
		if (is_wanted(t, &t->section[i]) &&
		    address >= t->section[i].sh_addr &&
		    address - t->section[i].sh_addr < t->section[i].sh_size)
			return true;
	return false;
}

static void found(const struct search *s, uint64_t address)
{
	bool page = s->tables->header.e_machine == EM_MIPS &&
		address % MIPS_PAGE == 0;

	if (address != 0 && !page)
		s->word(s->owner, address);
}

static uint64_t read_word(const struct search *s, const uint8_t *bytes)
{
	unsigned size = s->binary->machine->word;
	uint64_t word = 0;

	DEBUG_ASSERT(size == sizeof(uint32_t) || size == sizeof(uint64_t));
	for (unsigned i = 0; i < size; i++)
		word |= (uint64_t)bytes[s->tables->class->big ? size - 1 - i : i]
			<< 8 * i;
	return word;
}

/* Words with their values in the file: for relocations without addends. */
static void words_of(const struct search *s, const Elf64_Shdr *section)
{
	const uint8_t *bytes = s->tables->bytes + section->sh_offset;
	unsigned size = s->binary->machine->word;

	for (uint64_t at = 0; at + size <= section->sh_size; at += size)
		found(s, read_word(s, bytes + at));
}

static void addends_of(const struct search *s, const Elf64_Shdr *section)
{
	const struct elf_tables *t = s->tables;
	uint64_t count = section->sh_size / t->class->rela_size;

	for (uint64_t i = 0; i < count; i++) {
		Elf64_Rela entry;

		t->class->get_rela(&entry, t->bytes + section->sh_offset +
				   i * t->class->rela_size);
		if (ELF64_R_SYM(entry.r_info) == 0 && entry.r_addend > 0 &&
		    is_in_wanted(t, entry.r_offset))
			found(s, (uint64_t)entry.r_addend);
	}
}

void code_words(const struct binary *binary,
		void (*word)(void *owner, uint64_t address), void *owner)
{
	const struct elf_tables *t = &binary->file->tables;
	const struct search s = { binary, t, word, owner };

	for (uint32_t i = 0; i < t->sections; i++) {
		const Elf64_Shdr *section = &t->section[i];

		if (!elf_tables_has(t, section))
			continue;
		if (section->sh_type == SHT_RELA)
			addends_of(&s, section);
		else if (is_wanted(t, section))
			words_of(&s, section);
	}
}
