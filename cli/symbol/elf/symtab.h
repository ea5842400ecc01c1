/*
 * symtab.h: functions by the symbol tables of a file, sorted once.
 *
 * Thread context: made by one thread, asked by any.
 */
#ifndef GNOMON_SYMTAB_H
#define GNOMON_SYMTAB_H

#include "cli/symbol/elf/elffile.h"

struct symtab_symbol {
	uint64_t address;
	uint64_t end;		/* == address: it has no size */
	uint64_t reach;		/* greatest `end` up to here */
	uint64_t limit;		/* where the section ends */
	const char *name;
	uint32_t order;		/* of preference among equals; least first */
};

struct symtab {
	struct symtab_symbol *list;
	size_t count;
	size_t capacity;
};

/* All functions of the table of this type (SHT_SYMTAB, SHT_DYNSYM). Names
 * live as long as the file. Returns how many there were. */
size_t symtab_add(struct symtab *table, const struct elffile *file,
		  uint32_t type);
/* After the last of them. */
void symtab_sort(struct symtab *table);
void symtab_free(struct symtab *table);

/*
 * The function that an address lies in; NULL: in none. "The nearest one
 * before" is no answer: in a stripped file it is mostly a wrong name. A symbol
 * without a size (assembly) is taken up to the next one.
 */
const struct symtab_symbol *symtab_find(const struct symtab *table,
					uint64_t address);

/* Where the last symbol before an address ends, and the next one behind it
 * begins; left as they are where there is none. */
void symtab_around(const struct symtab *table, uint64_t address, uint64_t *end,
		   uint64_t *next);

#endif
