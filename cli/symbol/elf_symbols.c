/*
 * elf_symbols.c: see the header.
 *
 * I1: names end with a NUL, whatever the last of them does in the file.
 */
#include "cli/symbol/elf_symbols.h"

#include <assert.h>
#include <stdlib.h>

#define ELF_SYMBOLS_PIECE 1024	/* that are read at once */

struct names {
	char *text;
	uint64_t size;
};

/* The names that a section's symbols have. False: there are none. */
static bool load_names(const struct elf_tables *t, const Elf64_Shdr *section,
		       struct names *names)
{
	const Elf64_Shdr *link;

	if (section->sh_link >= t->sections || !elf_tables_has(t, section))
		return false;
	link = &t->section[section->sh_link];
	if (!elf_tables_has(t, link) || link->sh_size > ELF_SYMBOLS_NAMES)
		return false;
	names->size = link->sh_size;
	names->text = malloc(names->size + 1);
	if (names->text == NULL ||
	    elf_tables_bytes(t->fd, link->sh_offset, names->text, names->size))
		return false;
	names->text[names->size] = '\0';	/* I1 */
	return true;
}

static bool each_of(const struct elf_tables *t, const Elf64_Shdr *section,
		    const struct names *names,
		    bool (*each)(void *owner, const Elf64_Sym *symbol,
				 const char *name),
		    void *owner)
{
	uint8_t bytes[ELF_SYMBOLS_PIECE * sizeof(Elf64_Sym)];
	size_t size = t->class->sym_size, n;
	uint64_t count = section->sh_size / size;

	assert(size > 0 && size <= sizeof(Elf64_Sym));
	if (count > ELF_SYMBOLS_MAX)
		count = ELF_SYMBOLS_MAX;
	for (uint64_t first = 0; first < count; first += n) {
		n = count - first < ELF_SYMBOLS_PIECE ? count - first :
							ELF_SYMBOLS_PIECE;
		assert(n > 0 && n * size <= sizeof(bytes));
		if (elf_tables_bytes(t->fd, section->sh_offset + first * size,
				     bytes, n * size))
			return false;
		for (size_t i = 0; i < n; i++) {
			Elf64_Sym symbol;

			t->class->get_sym(&symbol, bytes + i * size);
			if (!each(owner, &symbol,
				  symbol.st_name < names->size ?
					  names->text + symbol.st_name : ""))
				return false;
		}
	}
	return true;
}

bool elf_symbols_each(const struct elf_tables *t, const Elf64_Shdr *section,
		      bool (*each)(void *owner, const Elf64_Sym *symbol,
				   const char *name),
		      void *owner)
{
	struct names names = { 0 };
	bool done = load_names(t, section, &names) &&
		    each_of(t, section, &names, each, owner);

	free(names.text);
	return done;
}
