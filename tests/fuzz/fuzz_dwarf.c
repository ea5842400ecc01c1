/*
 * fuzz_dwarf.c: the bytes of a fuzzer as a file with symbols.
 *
 * The first byte says how they are to be taken: as an ELF file, or as the
 * sections of debug information themselves, of which 9 sizes of two bytes
 * stand in front (they are long to be found out through section headers). The
 * second kind is tried as the program's own, and as what was split from a unit
 * or is shared by dwz.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/symbol/dwarf/dwarf_lookup.h"
#include "cli/symbol/dwarf/dwarf_split.h"
#include "cli/symbol/elf/elffile.h"
#include "cli/symbol/elf/fdes.h"
#include "cli/symbol/elf/minidebug.h"
#include "cli/symbol/elf/symtab.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { UNITS_MAX = 16, PLACES = 24 };

static void ask_unit(struct dwarf_unit *unit, struct dwarf_unit *entries)
{
	struct dwarf_frame frames[DWARF_INLINE_MAX];
	struct dwarf_lookup lookup;
	struct buffer path = { 0 };

	if (!dwarf_lookup_open(&lookup, unit, entries))
		return;
	for (size_t i = 0; i < lookup.functions.count && i < PLACES; i++) {
		uint32_t range = lookup.functions.list[i].first_range;

		dwarf_lookup_name(&lookup, (uint32_t)i);
		dwarf_lookup_at(&lookup, lookup.functions.ranges[range].low,
				frames);
	}
	for (size_t i = 0; i < lookup.lines.sequence_count && i < PLACES; i++)
		dwarf_lookup_at(&lookup, lookup.lines.sequences[i].low + i,
				frames);
	for (size_t i = 0; i <= lookup.lines.file_count && i < PLACES; i++)
		dwarf_lines_path(&lookup.lines, i, &path);
	buffer_free(&path);
	dwarf_lookup_close(&lookup);
}

static void ask_split(struct dwarf *dwarf,
		      const struct span sections[DWARF_SECTIONS])
{
	for (size_t i = 0; i < dwarf->unit_count && i < UNITS_MAX; i++) {
		struct dwarf *split = dwarf_open(sections, NULL,
						 &dwarf->units[i]);

		for (size_t j = 0; split != NULL && j < split->unit_count &&
		     j < UNITS_MAX; j++)
			if (split->units[j].tag != 0)
				ask_unit(&dwarf->units[i], &split->units[j]);
		dwarf_close(split);
	}
}

static void ask_sections(const struct span sections[DWARF_SECTIONS],
			 bool split)
{
	struct dwarf *alt = dwarf_open(sections, NULL, NULL);
	struct dwarf *dwarf = dwarf_open(sections, alt, NULL);

	if (dwarf != NULL) {
		dwarf_find_areas(dwarf);
		for (size_t i = 0; i < dwarf->area_count && i < PLACES; i++)
			dwarf_unit_at(dwarf, dwarf->areas[i].low);
		for (size_t i = 0; i < dwarf->unit_count && i < UNITS_MAX; i++)
			if (dwarf->units[i].tag != 0)
				ask_unit(&dwarf->units[i], &dwarf->units[i]);
		if (split)
			ask_split(dwarf, sections);
	}
	dwarf_close(dwarf);
	dwarf_close(alt);
}

static void ask_package(struct elffile *file)
{
	struct dwarf_package *package = dwarf_package_open(file);
	struct dwarf_unit skeleton = { .version = 5, .address_size = 8,
				       .offset_size = 4 };

	if (package == NULL)
		return;
	dwarf_close(dwarf_package_find(package, &skeleton));
	dwarf_package_close(package);
}

static struct elffile *open_copy(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size ? size : 1);

	memcpy(copy, data, size);
	return elffile_of_memory(copy, size, "fuzzed");
}

static void ask_file(const uint8_t *data, size_t size)
{
	struct elffile *file = open_copy(data, size);
	struct span sections[DWARF_SECTIONS];
	uint8_t id[ELF_TABLES_ID_MAX];
	char name[256];
	struct fdes_range range;
	struct fdes fdes;
	struct symtab symbols = { 0 };
	uint64_t end, next;

	if (file == NULL)
		return;
	elf_tables_id(&file->tables, id);
	elf_tables_link(&file->tables, name, sizeof(name));
	elf_tables_alternate(&file->tables, name, sizeof(name), id);
	fdes_open(&fdes, file);
	symtab_add(&symbols, file, SHT_SYMTAB);
	symtab_add(&symbols, file, SHT_DYNSYM);
	symtab_sort(&symbols);
	for (uint64_t i = 0; i < PLACES; i++) {
		symtab_find(&symbols, i << i);
		fdes_is_signal(&fdes, i << i);
		fdes_find(&fdes, i << i, &range);
		symtab_around(&symbols, i << i, &end, &next);
	}
	elffile_close(minidebug_open(file));
	dwarf_sections(file, false, sections);
	ask_sections(sections, false);
	symtab_free(&symbols);
	fdes_free(&fdes);
	elffile_close(file);
	ask_package(open_copy(data, size));
}

static void cut_sections(const uint8_t *data, size_t size)
{
	struct span sections[DWARF_SECTIONS] = { { NULL, 0, false } };
	uint8_t *copies[DWARF_SECTIONS];
	const uint8_t *sizes = data;

	if (size < 2 * DWARF_SECTIONS)
		return;
	data += 2 * DWARF_SECTIONS;
	size -= 2 * DWARF_SECTIONS;
	for (int i = 0; i < DWARF_SECTIONS; i++) {
		size_t wanted = sizes[2 * i] | (size_t)sizes[2 * i + 1] << 8;

		if (wanted > size)
			wanted = size;
		/* Blocks of their own, whose ends are watched. */
		copies[i] = malloc(wanted ? wanted : 1);
		memcpy(copies[i], data, wanted);
		sections[i] = (struct span){ copies[i], wanted, false };
		data += wanted;
		size -= wanted;
	}
	ask_sections(sections, true);
	for (int i = 0; i < DWARF_SECTIONS; i++)
		free(copies[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size == 0)
		return 0;
	if (data[0] & 1)
		ask_file(data + 1, size - 1);
	else
		cut_sections(data + 1, size - 1);
	return 0;
}
