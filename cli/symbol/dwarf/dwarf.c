/*
 * dwarf.c: opening a file lists its units: a header and the first entry of
 * each, some 0.3 µs. These also tell the code of each unit, so .debug_aranges
 * is not needed, which not all compilers write.
 */
#include "cli/symbol/dwarf/dwarf.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include <dwarf.h>

#include "cli/base/grow.h"
#include "cli/base/search.h"
#include "cli/symbol/dwarf/dwarf_entry.h"
#include "unwind/base/assertion.h"

/* Bytes that may be read: this many times the file's size, and this many
 * more. */
#define BUDGET_FACTOR 64
#define BUDGET_MIN (16 << 20)

static const char *const section_names[DWARF_SECTIONS] = {
	[DWARF_INFO] = ".debug_info",
	[DWARF_ABBREV] = ".debug_abbrev",
	[DWARF_STR] = ".debug_str",
	[DWARF_LINE] = ".debug_line",
	[DWARF_LINE_STR] = ".debug_line_str",
	[DWARF_RANGES] = ".debug_ranges",
	[DWARF_RNGLISTS] = ".debug_rnglists",
	[DWARF_ADDR] = ".debug_addr",
	[DWARF_STR_OFFSETS] = ".debug_str_offsets",
};

void dwarf_sections(struct elffile *file, bool split,
		    struct span sections[DWARF_SECTIONS])
{
	for (int i = 0; i < DWARF_SECTIONS; i++) {
		char name[32];

		assert(section_names[i] != NULL);
		strcpy(name, section_names[i]);
		if (split)
			strcat(name, ".dwo");
		sections[i] = elffile_section(file, name);
	}
}

bool dwarf_charge(struct dwarf *dwarf, uint64_t size)
{
	return atomic_fetch_sub_explicit(&dwarf->budget, (long long)size,
					 memory_order_relaxed) > 0;
}

/* ---- units ---- */

/* false: the end, or damaged. Moves the cursor to the next unit. */
static bool read_header(struct dwarf *dwarf, struct bytes *bytes,
			struct dwarf_unit *unit)
{
	const uint8_t *start = dwarf->sections[DWARF_INFO].data;
	uint64_t length;

	memset(unit, 0, sizeof(*unit));
	unit->dwarf = dwarf;
	unit->offset = (uint64_t)(bytes->at - start);
	length = bytes_length(bytes, &unit->offset_size);
	if (bytes->bad || length > bytes_left(bytes))
		return false;
	unit->end = (uint64_t)(bytes->at - start) + length;
	unit->version = (uint8_t)bytes_u16(bytes);
	unit->type = DW_UT_compile;
	if (unit->version >= 5) {
		unit->type = bytes_u8(bytes);
		unit->address_size = bytes_u8(bytes);
		unit->abbrev_offset = bytes_number(bytes, unit->offset_size);
	} else {
		unit->abbrev_offset = bytes_number(bytes, unit->offset_size);
		unit->address_size = bytes_u8(bytes);
	}
	if (unit->type == DW_UT_skeleton || unit->type == DW_UT_split_compile)
		unit->dwo_id = bytes_u64(bytes);
	else if (unit->type == DW_UT_type || unit->type == DW_UT_split_type)
		bytes_skip(bytes, 8u + unit->offset_size);
	unit->root = (uint64_t)(bytes->at - start);
	if (bytes->bad || unit->root > unit->end)
		return false;
	DEBUG_ASSERT(unit->offset < unit->root);
	*bytes = bytes_from(dwarf->sections[DWARF_INFO], unit->end);
	return true;
}

static bool is_readable(const struct dwarf_unit *unit)
{
	return unit->version >= 2 && unit->version <= 5 &&
		(unit->address_size == 4 || unit->address_size == 8);
}

/* Defaults of the table bases, for units without the attributes. */
static void set_bases(struct dwarf_unit *unit,
		      const struct dwarf_entry *entry)
{
	bool late = unit->version >= 5;

	unit->addr_base = entry->addr_base;
	unit->ranges_base = entry->ranges_base;
	unit->str_offsets_base = entry->str_offsets_base;
	unit->rnglists_base = entry->rnglists_base;
	if (late && unit->str_offsets_base == 0)
		unit->str_offsets_base = unit->offset_size == 8 ? 16 : 8;
	if (late && unit->rnglists_base == 0)
		unit->rnglists_base = unit->offset_size == 8 ? 20 : 12;
}

static void read_root(struct dwarf_unit *unit, struct dwarf_entry *entry)
{
	struct dwarf_abbrevs *abbrevs = dwarf_abbrevs_first(unit);
	struct bytes bytes = dwarf_bytes_at(unit, unit->root);
	const struct dwarf_abbrev *abbrev = NULL;

	memset(entry, 0, sizeof(*entry));
	if (abbrevs->count == 1 &&
	    abbrevs->list[0].code == bytes_uleb(&bytes))
		abbrev = &abbrevs->list[0];
	if (abbrev != NULL) {
		dwarf_entry_read(&bytes, unit, abbrevs, abbrev, entry);
		unit->tag = entry->tag;
	}
	dwarf_abbrevs_free(abbrevs);
}

static void read_unit(struct dwarf_unit *unit, struct dwarf_entry *entry)
{
	read_root(unit, entry);
	set_bases(unit, entry);
	unit->line_offset = UINT64_MAX;
	if (entry->line_offset.form != 0)
		unit->line_offset = entry->line_offset.number;
	if (entry->has_dwo_id)
		unit->dwo_id = entry->dwo_id;
	unit->name = dwarf_string(unit, &entry->name);
	unit->directory = dwarf_string(unit, &entry->directory);
	unit->dwo_name = dwarf_string(unit, &entry->dwo_name);
	if (entry->has_low && !dwarf_address(unit, &entry->low, &unit->low))
		unit->low = 0;
}

static void read_units(struct dwarf *dwarf, struct dwarf_unit *skeleton)
{
	struct bytes bytes = bytes_from(dwarf->sections[DWARF_INFO], 0);
	struct dwarf_unit unit;
	struct dwarf_entry entry;

	while (bytes_left(&bytes) > 0 && read_header(dwarf, &bytes, &unit) &&
	       dwarf_charge(dwarf, 1)) {
		unit.skeleton = skeleton;
		if (is_readable(&unit))
			read_unit(&unit, &entry);
		DEBUG_ASSERT(dwarf->unit_count == 0 ||
			     dwarf->units[dwarf->unit_count - 1].end <=
				     unit.offset);
		GROW(dwarf->units, dwarf->unit_count, dwarf->unit_capacity);
		dwarf->units[dwarf->unit_count++] = unit;
	}
}

struct dwarf *dwarf_open(const struct span sections[DWARF_SECTIONS],
			 struct dwarf *alt, struct dwarf_unit *skeleton)
{
	uint64_t size = 0;
	struct dwarf *dwarf;

	if (sections[DWARF_INFO].size == 0 || sections[DWARF_ABBREV].size == 0)
		return NULL;
	dwarf = grow_zeroed(1, sizeof(*dwarf));
	memcpy(dwarf->sections, sections, sizeof(dwarf->sections));
	dwarf->alt = alt;
	dwarf->split = skeleton != NULL;
	for (int i = 0; i < DWARF_SECTIONS; i++)
		size += sections[i].size;
	atomic_init(&dwarf->budget,
		    (long long)(size * BUDGET_FACTOR + BUDGET_MIN));
	pthread_mutex_init(&dwarf->lock, NULL);
	read_units(dwarf, skeleton);
	return dwarf;
}

void dwarf_close(struct dwarf *dwarf)
{
	if (dwarf == NULL)
		return;
	for (size_t i = 0; i < dwarf->table_count; i++)
		dwarf_abbrevs_free(dwarf->tables[i]);
	pthread_mutex_destroy(&dwarf->lock);
	free(dwarf->tables);
	free(dwarf->units);
	free(dwarf->areas);
	free(dwarf);
}

static bool begins_behind(const void *list, size_t i, uint64_t offset)
{
	return ((const struct dwarf_unit *)list)[i].offset > offset;
}

struct dwarf_unit *dwarf_unit_of(struct dwarf *dwarf, uint64_t offset)
{
	size_t behind = search_first(dwarf->units, dwarf->unit_count,
				     begins_behind, offset);

	if (behind == 0 || offset >= dwarf->units[behind - 1].end ||
	    !is_readable(&dwarf->units[behind - 1]))
		return NULL;
	return &dwarf->units[behind - 1];
}

/* ---- code ---- */

static void add_area(void *owner, uint64_t low, uint64_t high)
{
	struct dwarf *dwarf = owner;
	struct dwarf_area area = { low, high, high, 0 };

	DEBUG_ASSERT(low < high);
	if (low == 0)
		return;
	GROW(dwarf->areas, dwarf->area_count, dwarf->area_capacity);
	dwarf->areas[dwarf->area_count++] = area;
}

static int by_low(const void *a, const void *b)
{
	const struct dwarf_area *x = a, *y = b;

	if (x->low != y->low)
		return x->low < y->low ? -1 : 1;
	/* The shorter area last: the search begins with it. */
	if (x->high != y->high)
		return x->high > y->high ? -1 : 1;
	return x->unit < y->unit ? -1 : x->unit > y->unit;
}

#ifdef GNOMON_DEBUG_ASSERTS
bool dwarf_is_valid(const struct dwarf *dwarf)
{
	uint64_t reach = 0;

	for (size_t i = 0; i < dwarf->unit_count; i++) {
		const struct dwarf_unit *unit = &dwarf->units[i];

		if (unit->offset >= unit->root || unit->root > unit->end ||
		    (i > 0 && unit[-1].end > unit->offset))
			return false;
	}
	for (size_t i = 0; i < dwarf->area_count; i++) {
		const struct dwarf_area *area = &dwarf->areas[i];

		if (reach < area->high)
			reach = area->high;
		if (area->low == 0 || area->low >= area->high ||
		    area->reach != reach || area->unit >= dwarf->unit_count ||
		    (i > 0 && by_low(area - 1, area) > 0))
			return false;
	}
	return true;
}
#endif

void dwarf_find_areas(struct dwarf *dwarf)
{
	uint64_t reach = 0;

	assert(dwarf->area_count == 0);
	for (size_t i = 0; i < dwarf->unit_count; i++) {
		struct dwarf_unit *unit = &dwarf->units[i];
		size_t before = dwarf->area_count;
		struct dwarf_entry entry;

		if (unit->tag != DW_TAG_compile_unit &&
		    unit->tag != DW_TAG_skeleton_unit)
			continue;
		read_root(unit, &entry);
		dwarf_ranges_each(unit, &entry, add_area, dwarf);
		for (size_t j = before; j < dwarf->area_count; j++)
			dwarf->areas[j].unit = (uint32_t)i;
	}
	if (dwarf->area_count > 1)
		qsort(dwarf->areas, dwarf->area_count, sizeof(*dwarf->areas),
		      by_low);
	for (size_t i = 0; i < dwarf->area_count; i++) {
		if (reach < dwarf->areas[i].high)
			reach = dwarf->areas[i].high;
		dwarf->areas[i].reach = reach;
	}
	DEBUG_ASSERT(dwarf_is_valid(dwarf));
}

static bool begins_above(const void *list, size_t i, uint64_t address)
{
	return ((const struct dwarf_area *)list)[i].low > address;
}

struct dwarf_unit *dwarf_unit_at(struct dwarf *dwarf, uint64_t address)
{
	size_t i = search_first(dwarf->areas, dwarf->area_count, begins_above,
				address);

	for (; i > 0 && dwarf->areas[i - 1].reach > address; i--)
		if (dwarf->areas[i - 1].high > address)
			return &dwarf->units[dwarf->areas[i - 1].unit];
	return NULL;
}
