/*
 * elf_symbols.h: iterates over the symbols of an ELF file. The file may hold
 * anything, and may change while it is read (elf_tables.h). Symbols are read in
 * pieces, the names all at once.
 *
 * No state but the caller's: any thread.
 */
#ifndef GNOMON_ELF_SYMBOLS_H
#define GNOMON_ELF_SYMBOLS_H

#include "cli/symbol/elf/elf_tables.h"

/* Limits for a file that is read by its descriptor; more is ignored. */
#define ELF_SYMBOLS_MAX 4000000
#define ELF_SYMBOLS_NAMES (256u << 20)	/* bytes of names */

/* Instead of a section's number: the symbol is in none (SHN_ABS, SHN_COMMON).
 * Symbols defined in other files have SHN_UNDEF. */
#define ELF_SYMBOLS_NOWHERE UINT32_MAX

/*
 * Calls `each` for the symbols of a section, until it returns false. name: ""
 * if it is out of bounds; valid only during the call, unless the file is in
 * memory. section: the number of the symbol's section, also if too large for
 * st_shndx. False: the section is invalid, there is no memory, or `each`
 * returned false.
 */
bool elf_symbols_each(const struct elf_tables *tables,
		      const Elf64_Shdr *section,
		      bool (*each)(void *owner, const Elf64_Sym *symbol,
				   const char *name, uint32_t section),
		      void *owner);

#endif
