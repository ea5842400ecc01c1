/*
 * elf_symbols.h: one symbol of an ELF file after the other, with its name; of a
 * file that may hold anything, and may change while it is read (elf_tables.h).
 * Symbols are read piece by piece, their names as a whole.
 *
 * No state but the caller's: any thread.
 */
#ifndef GNOMON_ELF_SYMBOLS_H
#define GNOMON_ELF_SYMBOLS_H

#include "cli/symbol/elf/elf_tables.h"

/* Of a file that is read by its descriptor, what is more is not looked at. */
#define ELF_SYMBOLS_MAX 4000000
#define ELF_SYMBOLS_NAMES (256u << 20)	/* bytes of them */

/* In place of a section's number: the symbol is in none (SHN_ABS, SHN_COMMON).
 * What is defined elsewhere has SHN_UNDEF. */
#define ELF_SYMBOLS_NOWHERE UINT32_MAX

/*
 * Calls `each` for the symbols of a section, until it says false. name: "" if
 * it lies outside; gone when `each` returns, unless the file lies in memory.
 * section: the number of the one that it is in, which st_shndx may be too small
 * for. False: the section is not as it should be, there is no memory, or `each`
 * said so.
 */
bool elf_symbols_each(const struct elf_tables *tables,
		      const Elf64_Shdr *section,
		      bool (*each)(void *owner, const Elf64_Sym *symbol,
				   const char *name, uint32_t section),
		      void *owner);

#endif
