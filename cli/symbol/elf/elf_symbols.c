/*
 * elf_symbols.c: see the header.
 */
#include "cli/symbol/elf/elf_symbols.h"

#include "unwind/base/assertion.h"

#define ELF_SYMBOLS_PIECE 1024	/* symbols read at once */
#define MAPPED_MAX (64u << 20)	/* limit if mapped: names may be in holes */

/* A table of symbols. */
struct table {
	const struct elf_tables *file;
	uint64_t offset, count;
	uint64_t wide;		/* offset of the section numbers that do not fit
				 * into symbols; 0: none */
	struct elf_texts names;
};

/* The offset of a section's SHT_SYMTAB_SHNDX, with at least `count` entries; 0:
 * none. */
static uint64_t find_wide(const struct elf_tables *t, uint32_t section,
			  uint64_t count)
{
	for (uint32_t i = 0; i < t->sections; i++) {
		const Elf64_Shdr *wide = &t->section[i];

		if (wide->sh_type == SHT_SYMTAB_SHNDX &&
		    wide->sh_link == section && elf_tables_has(t, wide) &&
		    wide->sh_size / sizeof(uint32_t) >= count)
			return wide->sh_offset;
	}
	return 0;
}

/* False: no such table, or no names. */
static bool open_table(struct table *table, const struct elf_tables *t,
		       const Elf64_Shdr *section)
{
	DEBUG_ASSERT(section >= t->section &&
		     section < t->section + t->sections);
	if (!elf_tables_has(t, section) || section->sh_link >= t->sections ||
	    !elf_tables_has(t, &t->section[section->sh_link]))
		return false;
	table->file = t;
	table->offset = section->sh_offset;
	table->count = section->sh_size / t->class->sym_size;
	if (table->count > (t->bytes ? MAPPED_MAX : ELF_SYMBOLS_MAX))
		table->count = t->bytes ? MAPPED_MAX : ELF_SYMBOLS_MAX;
	table->wide = find_wide(t, (uint32_t)(section - t->section),
				table->count);
	return elf_texts_load(&table->names, t, section->sh_link,
			      ELF_SYMBOLS_NAMES) == 0;
}

/* Some symbols, as in the file. */
struct piece {
	uint8_t bytes[ELF_SYMBOLS_PIECE * sizeof(Elf64_Sym)];
	uint32_t wide[ELF_SYMBOLS_PIECE];
	size_t count;
};

static bool read_piece(const struct table *table, uint64_t first,
		       struct piece *piece)
{
	size_t size = table->file->class->sym_size;

	piece->count = table->count - first < ELF_SYMBOLS_PIECE ?
		table->count - first : ELF_SYMBOLS_PIECE;
	return elf_tables_read(table->file, table->offset + first * size,
			       piece->bytes, piece->count * size) == 0 &&
		(table->wide == 0 ||
		 elf_tables_read(table->file,
				 table->wide + first * sizeof(*piece->wide),
				 piece->wide,
				 piece->count * sizeof(*piece->wide)) == 0);
}

static uint32_t section_of(const struct table *table,
			   const struct piece *piece, size_t i,
			   const Elf64_Sym *symbol)
{
	if (symbol->st_shndx < SHN_LORESERVE)
		return symbol->st_shndx;
	return symbol->st_shndx == SHN_XINDEX && table->wide ?
		elf_class_word(table->file->class, piece->wide[i]) :
		ELF_SYMBOLS_NOWHERE;
}

static bool each_of(const struct table *table,
		    bool (*each)(void *owner, const Elf64_Sym *symbol,
				 const char *name, uint32_t section),
		    void *owner)
{
	const struct elf_class *class = table->file->class;
	struct piece piece;

	for (uint64_t first = 0; first < table->count; first += piece.count) {
		if (!read_piece(table, first, &piece))
			return false;
		for (size_t i = 0; i < piece.count; i++) {
			Elf64_Sym symbol;

			class->get_sym(&symbol,
				       piece.bytes + i * class->sym_size);
			if (!each(owner, &symbol,
				  elf_texts_at(&table->names, symbol.st_name),
				  section_of(table, &piece, i, &symbol)))
				return false;
		}
	}
	return true;
}

bool elf_symbols_each(const struct elf_tables *t, const Elf64_Shdr *section,
		      bool (*each)(void *owner, const Elf64_Sym *symbol,
				   const char *name, uint32_t section),
		      void *owner)
{
	struct table table = { 0 };
	bool done = open_table(&table, t, section) &&
		    each_of(&table, each, owner);

	elf_texts_free(&table.names);
	return done;
}
