/*
 * symtab.c: among several names of one function a global one is preferred to
 * a weak one, and that to a local one; then the first in the table.
 */
#include "cli/symbol/symtab.h"

#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "unwind/claim.h"

/* How many that begin further in front are looked at. */
#define OVERLAP_MAX 64

static uint32_t rank(const GElf_Sym *symbol)
{
	switch (GELF_ST_BIND(symbol->st_info)) {
	case STB_GLOBAL:
	case STB_GNU_UNIQUE:
		return 0;
	case STB_WEAK:
		return 1;
	default:
		return 2;
	}
}

/* Labels of assembly may be functions; "$x" and ".L1" are none. */
static bool is_function(const GElf_Sym *symbol, const char *name)
{
	unsigned type = GELF_ST_TYPE(symbol->st_info);

	if (name == NULL || name[0] == 0 || symbol->st_value == 0 ||
	    symbol->st_shndx == SHN_UNDEF)
		return false;
	if (type == STT_FUNC || type == STT_GNU_IFUNC)
		return true;
	return type == STT_NOTYPE && name[0] != '$' && name[0] != '.';
}

/* Where the section of code ends; 0: it is none. */
static uint64_t code_end(Elf *elf, unsigned index)
{
	Elf_Scn *section = index < SHN_LORESERVE ? elf_getscn(elf, index) :
		NULL;
	GElf_Shdr header;

	if (section == NULL || gelf_getshdr(section, &header) == NULL ||
	    !(header.sh_flags & SHF_EXECINSTR))
		return 0;
	return header.sh_addr + header.sh_size;
}

static void add_all(struct symtab *table, Elf *elf, Elf_Scn *section,
		    const GElf_Shdr *header)
{
	Elf_Data *data = elf_getdata(section, NULL);
	size_t count = data != NULL && header->sh_entsize > 0 ?
		data->d_size / header->sh_entsize : 0;
	unsigned last = SHN_UNDEF;
	uint64_t limit = 0;

	for (size_t i = 0; i < count && i < INT32_MAX; i++) {
		struct symtab_symbol *new;
		const char *name;
		GElf_Sym symbol;

		if (gelf_getsym(data, (int)i, &symbol) == NULL)
			break;
		name = elf_strptr(elf, header->sh_link, symbol.st_name);
		if (!is_function(&symbol, name))
			continue;
		if (symbol.st_shndx != last)
			limit = code_end(elf, last = symbol.st_shndx);
		if (limit <= symbol.st_value)
			continue;
		GROW(table->list, table->count, table->capacity);
		new = &table->list[table->count];
		new->address = symbol.st_value;
		new->limit = limit;
		new->end = symbol.st_value + (symbol.st_size <
					      limit - symbol.st_value ?
					      symbol.st_size :
					      limit - symbol.st_value);
		new->name = name;
		new->order = rank(&symbol) << 30 |
			((uint32_t)table->count & 0x3fffffff);
		CLAIM_FULL(new->address < new->limit && new->end <= new->limit);
		table->count++;
	}
}

size_t symtab_add(struct symtab *table, struct elffile *file, unsigned type)
{
	size_t before = table->count;
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	while ((section = elf_nextscn(file->elf, section)) != NULL)
		if (gelf_getshdr(section, &header) != NULL &&
		    header.sh_type == type)
			add_all(table, file->elf, section, &header);
	return table->count - before;
}

static int by_address(const void *a, const void *b)
{
	const struct symtab_symbol *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	/* What is looked at first stands last. */
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

const struct symtab_symbol *symtab_find(const struct symtab *table,
					uint64_t address)
{
	const struct symtab_symbol *list = table->list, *last;
	size_t low = 0, high = table->count, looked = 0;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (list[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
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
