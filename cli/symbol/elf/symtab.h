/*
 * symtab.h: functions from the symbol tables of a file, sorted.
 *
 * Thread context: made by one thread, read by any.
 */
#ifndef GNOMON_SYMTAB_H
#define GNOMON_SYMTAB_H

#include "cli/symbol/elf/elffile.h"

struct symtab_symbol {
	uint64_t address;
	uint64_t end;		/* == address: unknown size */
	uint64_t reach;		/* greatest `end` up to here */
	uint64_t limit;		/* end of its section */
	const char *name;
	uint32_t order;		/* preference among equals; least first */
	bool thumb;		/* a function of ARM's Thumb code */
};

struct symtab {
	struct symtab_symbol *list;
	size_t count;
	size_t capacity;
};

/* All functions of the table of this type (SHT_SYMTAB, SHT_DYNSYM). Names live
 * as long as the file. Returns their number. */
size_t symtab_add(struct symtab *table, const struct elffile *file,
		  uint32_t type);
/* Call it after the last symtab_add. */
void symtab_sort(struct symtab *table);
void symtab_free(struct symtab *table);

/*
 * The function that contains an address; NULL: none. The nearest symbol before
 * is not used: in a stripped file it is mostly a wrong name. A symbol without a
 * size (assembly) extends to the next one.
 */
const struct symtab_symbol *symtab_find(const struct symtab *table,
					uint64_t address);

/* The end of the last symbol before an address, and the start of the next
 * symbol after it; unchanged if there is none. */
void symtab_around(const struct symtab *table, uint64_t address, uint64_t *end,
		   uint64_t *next);

#endif
