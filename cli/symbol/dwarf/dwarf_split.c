/*
 * dwarf_split.c: the package's index has the ranges of a unit in each section
 * (DWARF 5, 7.3.5; version 2 is GNU's older form):
 *
 *	header │ ids of units (hashed) │ their rows │ which sections
 *	       │ offsets, a row a unit │ sizes, a row a unit
 *
 * A part looks like a .dwo file, so it is opened as one.
 */
#include "cli/symbol/dwarf/dwarf_split.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include <dwarf.h>

#include "cli/base/grow.h"

#define COLUMNS_MAX 16

struct dwarf_package {
	struct elffile *file;
	struct span sections[DWARF_SECTIONS];
	struct span index;
	unsigned version;
	uint32_t columns;
	uint32_t units;
	uint32_t slots;
};

/* The section of a column, DWARF_SECTIONS: one that we do not use. */
static unsigned section_of(unsigned version, uint32_t id)
{
	switch (id) {
	case 1: return DWARF_INFO;
	case 3: return DWARF_ABBREV;
	case 4: return DWARF_LINE;
	case 6: return DWARF_STR_OFFSETS;
	case 8: return version >= 5 ? DWARF_RNGLISTS : DWARF_SECTIONS;
	default: return DWARF_SECTIONS;
	}
}

struct dwarf_package *dwarf_package_open(struct elffile *file)
{
	struct dwarf_package *package;
	struct bytes bytes;

	if (file == NULL)
		return NULL;
	package = grow_zeroed(1, sizeof(*package));
	package->file = file;
	dwarf_sections(file, true, package->sections);
	package->index = elffile_section(file, ".debug_cu_index");
	bytes = bytes_from(package->index, 0);
	/* Version 2 is a full word, version 5 half a word, then zeros. */
	package->version = bytes_u32(&bytes);
	package->columns = bytes_u32(&bytes);
	package->units = bytes_u32(&bytes);
	package->slots = bytes_u32(&bytes);
	if (bytes.bad || (package->version != 2 && package->version != 5) ||
	    package->columns == 0 || package->columns > COLUMNS_MAX) {
		dwarf_package_close(package);
		return NULL;
	}
	return package;
}

void dwarf_package_close(struct dwarf_package *package)
{
	if (package == NULL)
		return;
	elffile_close(package->file);
	free(package);
}

/* The row of an id, from 1 on; 0: missing. */
static uint32_t row_of(const struct dwarf_package *package, uint64_t id)
{
	struct bytes ids = bytes_from(package->index, 16);

	for (uint32_t i = 0; i < package->slots && !ids.bad; i++) {
		struct bytes row;

		if (bytes_u64(&ids) != id)
			continue;
		row = bytes_from(package->index, 16 +
				 UINT64_C(8) * package->slots +
				 UINT64_C(4) * i);
		return bytes_u32(&row);
	}
	return 0;
}

static bool cut(struct span *section, uint64_t offset, uint64_t size)
{
	if (offset > section->size || size > section->size - offset)
		return false;
	section->data += offset;
	section->size = size;
	return true;
}

struct dwarf *dwarf_package_find(struct dwarf_package *package,
				 struct dwarf_unit *skeleton)
{
	uint32_t row = row_of(package, skeleton->dwo_id);
	uint64_t at = 16 + UINT64_C(12) * package->slots;
	uint64_t wide = UINT64_C(4) * package->columns;
	struct span sections[DWARF_SECTIONS];
	struct bytes ids = bytes_from(package->index, at);
	struct bytes offsets, sizes;

	assert(package->columns > 0 && package->columns <= COLUMNS_MAX);
	if (row == 0 || row > package->units)
		return NULL;
	offsets = bytes_from(package->index, at + wide * row);
	sizes = bytes_from(package->index, at + wide * (package->units + row));
	memcpy(sections, package->sections, sizeof(sections));
	for (uint32_t i = 0; i < package->columns; i++) {
		unsigned section = section_of(package->version,
					      bytes_u32(&ids));
		uint64_t offset = bytes_u32(&offsets);
		uint64_t size = bytes_u32(&sizes);

		if (section < DWARF_SECTIONS &&
		    !cut(&sections[section], offset, size))
			return NULL;
	}
	if (ids.bad || offsets.bad || sizes.bad)
		return NULL;
	return dwarf_open(sections, NULL, skeleton);
}

struct dwarf_unit *dwarf_split_unit(struct dwarf *split)
{
	for (size_t i = 0; i < split->unit_count; i++) {
		struct dwarf_unit *unit = &split->units[i];

		assert(unit->skeleton != NULL);
		if (unit->tag == DW_TAG_compile_unit &&
		    unit->dwo_id == unit->skeleton->dwo_id)
			return unit;
	}
	return NULL;
}

struct dwarf *dwarf_split_open(struct elffile *file,
			       struct dwarf_unit *skeleton, uint64_t *found)
{
	struct span sections[DWARF_SECTIONS];
	struct dwarf *dwarf;

	*found = 0;
	dwarf_sections(file, true, sections);
	dwarf = dwarf_open(sections, NULL, skeleton);
	if (dwarf == NULL || dwarf_split_unit(dwarf) != NULL)
		return dwarf;
	for (size_t i = 0; i < dwarf->unit_count; i++)
		if (dwarf->units[i].tag == DW_TAG_compile_unit)
			*found = dwarf->units[i].dwo_id;
	dwarf_close(dwarf);
	return NULL;
}
