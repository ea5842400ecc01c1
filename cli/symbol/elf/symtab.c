/*
 * symtab.c: of several names at one address, functions are preferred to labels:
 * linkers put a label at the start of the code (_ftext on MIPS). Among
 * functions, global symbols are preferred to weak ones, weak to local ones;
 * then the first in the table.
 */
#include "cli/symbol/elf/symtab.h"

#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "cli/base/search.h"
#include "cli/symbol/elf/elf_symbols.h"
#include "unwind/base/assertion.h"

/* Limit of earlier overlapping symbols that are checked. */
#define OVERLAP_MAX 64
#define RANKS 3			/* of bindings */
#define RANK_SHIFT 29		/* in `order`: the low bits are the index in the
				 * table */

/* State while a table is read. */
struct reading {
	struct symtab *table;
	const struct elf_tables *file;
	uint32_t section;	/* whose end is `limit` */
	uint64_t limit;
};

static uint32_t rank_of_binding(const Elf64_Sym *symbol)
{
	switch (ELF64_ST_BIND(symbol->st_info)) {
	case STB_GLOBAL:
	case STB_GNU_UNIQUE:
		return 0;
	case STB_WEAK:
		return 1;
	default:
		return 2;
	}
}

static uint32_t rank(const Elf64_Sym *symbol)
{
	bool label = ELF64_ST_TYPE(symbol->st_info) == STT_NOTYPE;

	return rank_of_binding(symbol) + (label ? RANKS : 0);
}

/* Labels in assembly may be functions, but not "$x" and ".L1". */
static bool is_function(const Elf64_Sym *symbol, const char *name)
{
	unsigned type = ELF64_ST_TYPE(symbol->st_info);

	if (name[0] == 0 || symbol->st_value == 0)
		return false;
	if (type == STT_FUNC || type == STT_GNU_IFUNC)
		return true;
	return type == STT_NOTYPE && name[0] != '$' && name[0] != '.';
}

/* ARM marks Thumb functions with bit 0 (ELF for the Arm Architecture). */
static uint64_t address_of(const struct elf_tables *file,
			   const Elf64_Sym *symbol)
{
	return symbol->st_value & (file->header.e_machine == EM_ARM &&
				   ELF64_ST_TYPE(symbol->st_info) == STT_FUNC ?
				   ~UINT64_C(1) : ~UINT64_C(0));
}

/* The end of a code section; 0: not a code section. */
static uint64_t code_end(const struct elf_tables *file, uint32_t index)
{
	const Elf64_Shdr *section = index < file->sections ?
		&file->section[index] : NULL;

	if (section == NULL || !(section->sh_flags & SHF_EXECINSTR))
		return 0;
	return section->sh_addr + section->sh_size;
}

static bool add(void *owner, const Elf64_Sym *symbol, const char *name,
		uint32_t section)
{
	struct reading *reading = owner;
	struct symtab *table = reading->table;
	struct symtab_symbol *new;
	uint64_t start = address_of(reading->file, symbol), left;

	if (section == SHN_UNDEF || !is_function(symbol, name))
		return true;
	if (section != reading->section) {
		reading->limit = code_end(reading->file, section);
		reading->section = section;
	}
	if (reading->limit <= start)
		return true;
	left = reading->limit - start;
	GROW(table->list, table->count, table->capacity);
	new = &table->list[table->count];
	new->address = start;
	new->thumb = start != symbol->st_value;
	new->limit = reading->limit;
	new->end = start + (symbol->st_size < left ? symbol->st_size : left);
	new->name = name;
	new->order = rank(symbol) << RANK_SHIFT |
		((uint32_t)table->count & ((1u << RANK_SHIFT) - 1));
	DEBUG_ASSERT(new->address < new->limit && new->end <= new->limit);
	table->count++;
	return true;
}

size_t symtab_add(struct symtab *table, const struct elffile *file,
		  uint32_t type)
{
	struct reading reading = { .table = table, .file = &file->tables };
	const Elf64_Shdr *symbols = elf_tables_of_type(&file->tables, type);
	size_t before = table->count;

	if (symbols != NULL)
		elf_symbols_each(&file->tables, symbols, add, &reading);
	return table->count - before;
}

static int by_address(const void *a, const void *b)
{
	const struct symtab_symbol *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	/* The preferred symbol comes last: the search goes backwards. */
	if ((x->end > x->address) != (y->end > y->address))
		return x->end > x->address ? 1 : -1;
	return x->order > y->order ? -1 : x->order < y->order;
}

void symtab_sort(struct symtab *table)
{
	uint64_t reach = 0;

	if (table->count > 1)
		qsort(table->list, table->count, sizeof(*table->list),
		      by_address);
	for (size_t i = 0; i < table->count; i++) {
		if (reach < table->list[i].end)
			reach = table->list[i].end;
		table->list[i].reach = reach;
	}
}

void symtab_free(struct symtab *table)
{
	free(table->list);
	memset(table, 0, sizeof(*table));
}

static bool begins_above(const void *list, size_t i, uint64_t address)
{
	return ((const struct symtab_symbol *)list)[i].address > address;
}

/* The first symbol after an address. */
static size_t first_behind(const struct symtab *table, uint64_t address)
{
	return search_first(table->list, table->count, begins_above, address);
}

const struct symtab_symbol *symtab_find(const struct symtab *table,
					uint64_t address)
{
	const struct symtab_symbol *list = table->list, *last;
	size_t low = first_behind(table, address), looked = 0;

	if (low == 0)
		return NULL;
	last = &list[low - 1];
	for (; low > 0 && list[low - 1].reach > address &&
	       looked++ < OVERLAP_MAX; low--)
		if (list[low - 1].end > address)
			return &list[low - 1];
	return last->end == last->address && last->limit > address ? last :
		NULL;
}

void symtab_around(const struct symtab *table, uint64_t address, uint64_t *end,
		   uint64_t *next)
{
	size_t behind = first_behind(table, address);

	if (behind > 0 && table->list[behind - 1].reach <= address)
		*end = table->list[behind - 1].reach;
	if (behind < table->count)
		*next = table->list[behind].address;
}
