/*
 * mips_table.c: see mips_table.h. Files are hostile: all reads stay within the
 * file, and numbers of words are checked against its size.
 */
#include "cli/symbol/code/mips_table.h"

#include <elf.h>
#include <string.h>

#include "cli/base/io_full.h"

#define WORD 8
#define ENTRY (2 * WORD)	/* of the dynamic section: tag and value */
#define ENTRIES_MAX 65536	/* some thirty are usual */

/* A word of the file; 0: it cannot be read. */
static uint64_t word_at(const struct elf_tables *t, uint64_t offset)
{
	uint64_t word;

	if (t->bytes != NULL)
		memcpy(&word, t->bytes + offset, sizeof(word));
	else if (io_full_read_at(t->fd, &word, sizeof(word), offset) !=
		 sizeof(word))
		return 0;
	return t->class->swapped ? __builtin_bswap64(word) : word;
}

static bool is_wide(const struct elf_tables *t)
{
	return t->class->sym_size == sizeof(Elf64_Sym);
}

bool mips_table_of(const struct elf_tables *t, struct mips_table *table)
{
	const Elf64_Shdr *dynamic = elf_tables_of_type(t, SHT_DYNAMIC);
	uint64_t symbols = 0, count;

	memset(table, 0, sizeof(*table));
	if (!is_wide(t) || dynamic == NULL || !elf_tables_has(t, dynamic))
		return false;
	count = dynamic->sh_size / ENTRY;
	if (count > ENTRIES_MAX)
		return false;
	for (uint64_t i = 0; i < count; i++) {
		uint64_t at = dynamic->sh_offset + i * ENTRY;
		uint64_t value = word_at(t, at + WORD);

		switch (word_at(t, at)) {
		case DT_PLTGOT:
			table->address = value;
			break;
		case DT_MIPS_LOCAL_GOTNO:
			table->locals = value;
			break;
		case DT_MIPS_GOTSYM:
			table->first = value;
			break;
		case DT_MIPS_SYMTABNO:
			symbols = value;
			break;
		}
	}
	if (table->address == 0 || table->first > symbols ||
	    symbols > t->size / sizeof(Elf64_Sym) ||
	    table->locals > t->size / WORD)
		return false;
	table->globals = symbols - table->first;
	return true;
}

uint64_t mips_table_word(const struct elf_tables *t,
			 const struct mips_table *table, uint64_t i)
{
	uint64_t address = table->address + i * WORD;

	for (uint32_t n = 0; n < t->phdrs; n++) {
		const Elf64_Phdr *segment = &t->phdr[n];
		uint64_t offset;

		if (segment->p_type != PT_LOAD ||
		    address < segment->p_vaddr ||
		    address - segment->p_vaddr >= segment->p_filesz)
			continue;
		offset = segment->p_offset + (address - segment->p_vaddr);
		return elf_tables_within(offset, WORD, t->size) ?
			word_at(t, offset) : 0;
	}
	return 0;
}
