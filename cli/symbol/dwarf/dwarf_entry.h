/*
 * dwarf_entry.h: entries of .debug_info, and the values of their attributes.
 *
 * An entry begins with a code, which refers to an abbreviation: the tag, and
 * names and forms of its attributes.
 *
 * Thread context: any; the first thread that needs abbreviations reads them.
 */
#ifndef GNOMON_DWARF_ENTRY_H
#define GNOMON_DWARF_ENTRY_H

#include "cli/symbol/dwarf/dwarf.h"

struct dwarf_attribute {
	uint16_t name;		/* DW_AT_* */
	uint16_t form;		/* DW_FORM_* */
	int64_t constant;	/* of DW_FORM_implicit_const */
};

struct dwarf_abbrev {
	uint64_t code;
	uint16_t tag;
	bool children;
	uint16_t count;		/* of attributes */
	uint32_t first;
	uint32_t size;		/* of all values; 0: variable */
};

struct dwarf_abbrevs {
	uint64_t offset;
	uint8_t address_size;
	uint8_t offset_size;
	uint8_t version;
	bool dense;		/* codes are 1, 2, 3 … */
	struct dwarf_abbrev *list;	/* by code */
	size_t count;
	size_t capacity;
	struct dwarf_attribute *attributes;
	size_t attribute_count;
	size_t attribute_capacity;
};

/* A value as stored; see dwarf_string and the like. */
struct dwarf_value {
	uint16_t form;
	uint64_t number;	/* constants, offsets, indexes; a block's size */
	const uint8_t *data;	/* of a block or a string */
};

/* NULL: damaged beyond use, or the budget is used up. */
const struct dwarf_abbrevs *dwarf_abbrevs_of(struct dwarf_unit *unit);
void dwarf_abbrevs_free(struct dwarf_abbrevs *abbrevs);
/* NULL: there is none with this code. */
const struct dwarf_abbrev *dwarf_abbrev_find(
	const struct dwarf_abbrevs *abbrevs, uint64_t code);
/*
 * Only the abbreviation of a unit's first entry: there are many units, and few
 * are read further. The caller frees it.
 */
struct dwarf_abbrevs *dwarf_abbrevs_first(struct dwarf_unit *unit);

/* A cursor over a unit's entries. */
struct bytes dwarf_bytes_at(const struct dwarf_unit *unit, uint64_t offset);
void dwarf_value_read(struct bytes *bytes, const struct dwarf_unit *unit,
		      const struct dwarf_attribute *attribute,
		      struct dwarf_value *value);
/* Skip all values of an entry. */
void dwarf_values_skip(struct bytes *bytes, const struct dwarf_unit *unit,
		       const struct dwarf_abbrevs *abbrevs,
		       const struct dwarf_abbrev *abbrev);

/* NULL: not a string, or missing. */
const char *dwarf_string(struct dwarf_unit *unit,
			 const struct dwarf_value *value);
/* false: not an address, or missing. */
bool dwarf_address(struct dwarf_unit *unit, const struct dwarf_value *value,
		   uint64_t *address);
/* An address by its index in .debug_addr. */
bool dwarf_address_index(struct dwarf_unit *unit, uint64_t index,
			 uint64_t *address);
/* The entry that a value refers to: its unit, NULL if there is none, and
 * offset. */
struct dwarf_unit *dwarf_reference(struct dwarf_unit *unit,
				   const struct dwarf_value *value,
				   uint64_t *offset);

/* The attributes of an entry that we use, read in one pass. */
struct dwarf_entry {
	uint16_t tag;
	bool children;
	bool has_low, has_high, has_ranges, has_origin, has_dwo_id;
	struct dwarf_value low, high, ranges, origin, linkage_name, name;
	struct dwarf_value directory, dwo_name, line_offset;
	uint64_t addr_base, str_offsets_base, rnglists_base, ranges_base;
	uint64_t dwo_id, call_file, call_line, call_column, decl_line;
};

/* Reads the values of an entry; the cursor is then at the next entry's code. */
void dwarf_entry_read(struct bytes *bytes, const struct dwarf_unit *unit,
		      const struct dwarf_abbrevs *abbrevs,
		      const struct dwarf_abbrev *abbrev,
		      struct dwarf_entry *entry);

/* The name of an entry, or of the entry that it is an instance of. */
struct dwarf_naming dwarf_name(struct dwarf_unit *unit, uint64_t offset);

/* Calls take(owner, low, high) for each piece of code of an entry. */
void dwarf_ranges_each(struct dwarf_unit *unit,
		       const struct dwarf_entry *entry,
		       void (*take)(void *owner, uint64_t low, uint64_t high),
		       void *owner);

#endif
