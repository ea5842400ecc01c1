/*
 * mapping.c: see mapping.h. A symbol applies up to the next one. Sections are
 * contiguous, and each begins with a mapping symbol.
 */
#include "cli/symbol/code/mapping.h"

#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "cli/base/search.h"
#include "cli/symbol/elf/elf_symbols.h"

struct reading {
	struct mapping *mapping;
	const struct elf_tables *file;
};

/* "$a", or "$a.anything". */
static bool is_mapping(const Elf64_Sym *symbol, const char *name)
{
	return name[0] == '$' && name[1] != 0 &&
		strchr("axtd", name[1]) != NULL &&
		(name[2] == 0 || name[2] == '.') &&
		ELF64_ST_TYPE(symbol->st_info) == STT_NOTYPE;
}

static bool add(void *owner, const Elf64_Sym *symbol, const char *name,
		uint32_t section)
{
	struct reading *reading = owner;
	struct mapping *mapping = reading->mapping;

	if (!is_mapping(symbol, name) || section >= reading->file->sections ||
	    !(reading->file->section[section].sh_flags & SHF_EXECINSTR))
		return true;
	GROW(mapping->list, mapping->count, mapping->capacity);
	mapping->list[mapping->count++] = (struct mapping_symbol){
		symbol->st_value,
		name[1] == 't' ? MAPPING_THUMB :
		name[1] == 'd' ? MAPPING_DATA : MAPPING_CODE,
	};
	return true;
}

static int by_address(const void *a, const void *b)
{
	const struct mapping_symbol *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return x->kind < y->kind ? -1 : x->kind > y->kind;
}

bool mapping_read(struct mapping *mapping, const struct elffile *file)
{
	struct reading reading = { mapping, &file->tables };
	const Elf64_Shdr *symbols = elf_tables_of_type(&file->tables,
						       SHT_SYMTAB);

	if (symbols != NULL)
		elf_symbols_each(&file->tables, symbols, add, &reading);
	if (mapping->count > 0)
		qsort(mapping->list, mapping->count, sizeof(*mapping->list),
		      by_address);
	return mapping->count > 0;
}

static bool begins_above(const void *list, size_t i, uint64_t address)
{
	return ((const struct mapping_symbol *)list)[i].address > address;
}

bool mapping_at(const struct mapping *mapping, uint64_t address,
		enum mapping_kind *kind, uint64_t *end)
{
	size_t behind = search_first(mapping->list, mapping->count,
				     begins_above, address);

	if (behind < mapping->count)
		*end = mapping->list[behind].address;
	if (behind == 0)
		return false;
	*kind = mapping->list[behind - 1].kind;
	return true;
}

void mapping_free(struct mapping *mapping)
{
	free(mapping->list);
	memset(mapping, 0, sizeof(*mapping));
}
