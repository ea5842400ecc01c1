/*
 * mips_table.h: the global offset table through which position-independent MIPS
 * code calls functions (System V ABI, MIPS supplement):
 *
 *	table ─▶ │ local: addresses in the file itself      │ LOCAL_GOTNO words
 *	         │ global: one for each dynamic symbol      │
 *	         │ from number GOTSYM on, in their order    │
 *
 * gp points MIPS_TABLE_GP after its start. Words have no relocations. Only
 * files of 64 bits. Pure; any thread.
 */
#ifndef GNOMON_MIPS_TABLE_H
#define GNOMON_MIPS_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/symbol/elf/elf_tables.h"

#define MIPS_TABLE_GP UINT64_C(0x7ff0)

struct mips_table {
	uint64_t address;	/* in the file's addresses */
	uint64_t locals;	/* words */
	uint64_t first;		/* symbol of the first global word */
	uint64_t globals;	/* words */
};

/* False: the file has none, or its description is invalid. */
bool mips_table_of(const struct elf_tables *t, struct mips_table *table);
/* The value of the i-th word in the file, an address of the file; 0: none. */
uint64_t mips_table_word(const struct elf_tables *t,
			 const struct mips_table *table, uint64_t i);

#endif
