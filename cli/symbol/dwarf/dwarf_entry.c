/*
 * dwarf_entry.c: reads the attributes of one entry that we use. Names are found
 * along the chain of abstract instances (DW_AT_abstract_origin) and
 * declarations (DW_AT_specification).
 */
#include <string.h>

#include <dwarf.h>

#include "unwind/base/assertion.h"

#include "cli/symbol/dwarf/dwarf_entry.h"

/* An inlined copy of a clone of a definition of a declaration: 4. Longer chains
 * are loops. */
#define CHAIN_MAX 16

static uint64_t number_of(const struct dwarf_value *value)
{
	/* A column of 200 may be stored as one signed byte. */
	return value->form == DW_FORM_sdata && (int64_t)value->number < 0 ? 0 :
		value->number;
}

static void take_code(struct dwarf_entry *entry, unsigned name,
		      const struct dwarf_value *value)
{
	switch (name) {
	case DW_AT_low_pc:
		entry->has_low = true;
		entry->low = *value;
		break;
	case DW_AT_high_pc:
		entry->has_high = true;
		entry->high = *value;
		break;
	case DW_AT_ranges:
		entry->has_ranges = true;
		entry->ranges = *value;
		break;
	case DW_AT_abstract_origin:
	case DW_AT_specification:
		entry->has_origin = true;
		entry->origin = *value;
		break;
	case DW_AT_call_file:
		entry->call_file = number_of(value);
		break;
	case DW_AT_call_line:
		entry->call_line = number_of(value);
		break;
	case DW_AT_call_column:
		entry->call_column = number_of(value);
		break;
	case DW_AT_decl_line:
		entry->decl_line = number_of(value);
		break;
	}
}

static void take_unit(struct dwarf_entry *entry, unsigned name,
		      const struct dwarf_value *value)
{
	switch (name) {
	case DW_AT_comp_dir:
		entry->directory = *value;
		break;
	case DW_AT_dwo_name:
	case DW_AT_GNU_dwo_name:
		entry->dwo_name = *value;
		break;
	case DW_AT_GNU_dwo_id:
		entry->has_dwo_id = true;
		entry->dwo_id = value->number;
		break;
	case DW_AT_stmt_list:
		entry->line_offset = *value;
		break;
	case DW_AT_addr_base:
	case DW_AT_GNU_addr_base:
		entry->addr_base = value->number;
		break;
	case DW_AT_str_offsets_base:
		entry->str_offsets_base = value->number;
		break;
	case DW_AT_rnglists_base:
		entry->rnglists_base = value->number;
		break;
	case DW_AT_GNU_ranges_base:
		entry->ranges_base = value->number;
		break;
	}
}

void dwarf_entry_read(struct bytes *bytes, const struct dwarf_unit *unit,
		      const struct dwarf_abbrevs *abbrevs,
		      const struct dwarf_abbrev *abbrev,
		      struct dwarf_entry *entry)
{
	DEBUG_ASSERT((size_t)abbrev->first + abbrev->count <=
		     abbrevs->attribute_count);
	memset(entry, 0, sizeof(*entry));
	entry->tag = abbrev->tag;
	entry->children = abbrev->children;
	for (unsigned i = 0; i < abbrev->count; i++) {
		const struct dwarf_attribute *attribute =
			&abbrevs->attributes[abbrev->first + i];
		struct dwarf_value value;

		dwarf_value_read(bytes, unit, attribute, &value);
		if (attribute->name == DW_AT_name) {
			entry->name = value;
		} else if (attribute->name == DW_AT_linkage_name ||
			   attribute->name == DW_AT_MIPS_linkage_name) {
			entry->linkage_name = value;
		} else {
			take_code(entry, attribute->name, &value);
			take_unit(entry, attribute->name, &value);
		}
	}
}

struct dwarf_naming dwarf_name(struct dwarf_unit *unit, uint64_t offset)
{
	struct dwarf_naming naming = { 0 };

	for (int i = 0; i < CHAIN_MAX && unit != NULL; i++) {
		const struct dwarf_abbrevs *abbrevs = dwarf_abbrevs_of(unit);
		struct bytes bytes = dwarf_bytes_at(unit, offset);
		const struct dwarf_abbrev *abbrev;
		struct dwarf_entry entry;
		const char *linkage;

		abbrev = abbrevs ? dwarf_abbrev_find(abbrevs,
						     bytes_uleb(&bytes)) : NULL;
		if (abbrev == NULL)
			break;
		dwarf_entry_read(&bytes, unit, abbrevs, abbrev, &entry);
		if (naming.line == 0 && entry.decl_line <= INT32_MAX)
			naming.line = (uint32_t)entry.decl_line;
		linkage = dwarf_string(unit, &entry.linkage_name);
		naming.mangled = linkage != NULL;
		if (linkage != NULL)
			naming.name = linkage;
		if (naming.mangled)
			break;
		if (naming.name == NULL)
			naming.name = dwarf_string(unit, &entry.name);
		if (!entry.has_origin)
			break;
		unit = dwarf_reference(unit, &entry.origin, &offset);
	}
	return naming;
}
