/*
 * lsda_pads.c: see the header. The table is in a section of its own, mostly
 * .gcc_except_table, and is found by its address.
 */
#include "cli/symbol/cfi/lsda_pads.h"

#include <dwarf.h>

#include "cli/base/grow.h"

#define PADS_MAX 100000

/* The bytes of the file from an address on. */
static struct span bytes_at(const struct callframe *table, uint64_t address)
{
	const struct elf_tables *t = &table->file->tables;

	for (uint32_t i = 0; i < t->sections; i++) {
		const Elf64_Shdr *section = &t->section[i];
		uint64_t skip = address - section->sh_addr;

		if (section->sh_flags & SHF_ALLOC &&
		    skip < section->sh_size && elf_tables_has(t, section))
			return (struct span){
				t->bytes + section->sh_offset + skip,
				section->sh_size - skip, t->class->big };
	}
	return (struct span){ 0 };
}

size_t lsda_pads(const struct callframe *table,
		 const struct callframe_entry *entry,
		 struct symbolic_pad **pads)
{
	size_t count = 0, capacity = 0;
	struct bytes bytes = bytes_from(bytes_at(table, entry->lsda), 0), sites;
	uint64_t base = entry->start, size;
	uint8_t encoding;

	*pads = NULL;
	if (entry->lsda == 0 || bytes.bad)
		return 0;
	encoding = bytes_u8(&bytes);
	if (encoding != DW_EH_PE_omit)
		base = callframe_pointer(table, &bytes, entry->lsda + 1,
					 encoding);
	if (bytes_u8(&bytes) != DW_EH_PE_omit)
		bytes_uleb(&bytes);
	encoding = bytes_u8(&bytes);
	size = bytes_uleb(&bytes);
	sites = bytes;
	bytes_skip(&bytes, size);
	if (bytes.bad)
		return 0;
	sites.end = bytes.at;
	while (bytes_left(&sites) > 0 && count < PADS_MAX) {
		uint64_t start = callframe_pointer(table, &sites, 0, encoding);
		uint64_t length = callframe_pointer(table, &sites, 0, encoding);
		uint64_t pad = callframe_pointer(table, &sites, 0, encoding);

		bytes_uleb(&sites);
		if (sites.bad)
			break;
		if (pad == 0)
			continue;
		GROW(*pads, count, capacity);
		(*pads)[count++] = (struct symbolic_pad){
			entry->start + start, entry->start + start + length,
			base + pad };
	}
	return count;
}
