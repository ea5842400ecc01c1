/*
 * dwarf_value.c: reads values of all forms (DWARF 5, 7.5.6), and resolves them:
 * strings, addresses, other entries.
 */
#include <dwarf.h>

#include "unwind/base/assertion.h"

#include "cli/symbol/dwarf/dwarf_entry.h"

struct bytes dwarf_bytes_at(const struct dwarf_unit *unit, uint64_t offset)
{
	struct bytes bytes = bytes_from(unit->dwarf->sections[DWARF_INFO],
					offset);

	DEBUG_ASSERT(unit->root <= unit->end &&
		     unit->end <= unit->dwarf->sections[DWARF_INFO].size);
	if (offset < unit->root || offset > unit->end)
		bytes_fail(&bytes);
	else if (!bytes.bad)
		bytes.end = bytes.at + (unit->end - offset);
	return bytes;
}

static void read_block(struct bytes *bytes, uint64_t size,
		       struct dwarf_value *value)
{
	value->number = size;
	value->data = bytes->at;
	bytes_skip(bytes, size);
}

/* Forms of a number whose size depends only on the form. */
static unsigned number_size(unsigned form)
{
	switch (form) {
	case DW_FORM_data1: case DW_FORM_ref1: case DW_FORM_flag:
	case DW_FORM_strx1: case DW_FORM_addrx1:
		return 1;
	case DW_FORM_data2: case DW_FORM_ref2: case DW_FORM_strx2:
	case DW_FORM_addrx2:
		return 2;
	case DW_FORM_strx3: case DW_FORM_addrx3:
		return 3;
	case DW_FORM_data4: case DW_FORM_ref4: case DW_FORM_ref_sup4:
	case DW_FORM_strx4: case DW_FORM_addrx4:
		return 4;
	case DW_FORM_data8: case DW_FORM_ref8: case DW_FORM_ref_sup8:
	case DW_FORM_ref_sig8:
		return 8;
	default:
		return 0;
	}
}

static void read_form(struct bytes *bytes, const struct dwarf_unit *unit,
		      struct dwarf_value *value)
{
	switch (value->form) {
	case DW_FORM_addr:
		value->number = bytes_number(bytes, unit->address_size);
		break;
	case DW_FORM_ref_addr:
		value->number = bytes_number(bytes, unit->version < 3 ?
				unit->address_size : unit->offset_size);
		break;
	case DW_FORM_strp: case DW_FORM_line_strp: case DW_FORM_sec_offset:
	case DW_FORM_strp_sup: case DW_FORM_GNU_strp_alt:
	case DW_FORM_GNU_ref_alt:
		value->number = bytes_number(bytes, unit->offset_size);
		break;
	case DW_FORM_udata: case DW_FORM_ref_udata: case DW_FORM_strx:
	case DW_FORM_addrx: case DW_FORM_loclistx: case DW_FORM_rnglistx:
	case DW_FORM_GNU_addr_index: case DW_FORM_GNU_str_index:
		value->number = bytes_uleb(bytes);
		break;
	case DW_FORM_sdata:
		value->number = (uint64_t)bytes_sleb(bytes);
		break;
	case DW_FORM_string:
		value->data = (const uint8_t *)bytes_string(bytes);
		break;
	case DW_FORM_flag_present:
		value->number = 1;
		break;
	case DW_FORM_block1:
		read_block(bytes, bytes_u8(bytes), value);
		break;
	case DW_FORM_block2:
		read_block(bytes, bytes_u16(bytes), value);
		break;
	case DW_FORM_block4:
		read_block(bytes, bytes_u32(bytes), value);
		break;
	case DW_FORM_block: case DW_FORM_exprloc:
		read_block(bytes, bytes_uleb(bytes), value);
		break;
	case DW_FORM_data16:
		read_block(bytes, 16, value);
		break;
	default:
		/* Of unknown length: later values cannot be read. */
		bytes_fail(bytes);
	}
}

void dwarf_value_read(struct bytes *bytes, const struct dwarf_unit *unit,
		      const struct dwarf_attribute *attribute,
		      struct dwarf_value *value)
{
	unsigned size = number_size(attribute->form);

	value->form = attribute->form;
	value->number = 0;
	value->data = NULL;
	if (size > 0) {
		value->number = bytes_number(bytes, size);
		return;
	}
	if (value->form == DW_FORM_implicit_const) {
		value->number = (uint64_t)attribute->constant;
		return;
	}
	/* The form precedes the value; it must not be indirect again. */
	if (value->form == DW_FORM_indirect) {
		struct dwarf_attribute real = {
			.form = (uint16_t)bytes_uleb(bytes),
		};

		if (real.form == DW_FORM_indirect ||
		    real.form == DW_FORM_implicit_const)
			bytes_fail(bytes);
		else
			dwarf_value_read(bytes, unit, &real, value);
		return;
	}
	read_form(bytes, unit, value);
}

void dwarf_values_skip(struct bytes *bytes, const struct dwarf_unit *unit,
		       const struct dwarf_abbrevs *abbrevs,
		       const struct dwarf_abbrev *abbrev)
{
	struct dwarf_value value;

	DEBUG_ASSERT((size_t)abbrev->first + abbrev->count <=
		     abbrevs->attribute_count);
	if (abbrev->size > 0) {
		bytes_skip(bytes, abbrev->size);
		return;
	}
	for (unsigned i = 0; i < abbrev->count; i++)
		dwarf_value_read(bytes, unit,
				 &abbrevs->attributes[abbrev->first + i],
				 &value);
}

/* ---- strings, addresses, entries ---- */

static const char *string_at(struct span section, uint64_t offset)
{
	struct bytes bytes = bytes_from(section, offset);
	const char *text = bytes_string(&bytes);

	return bytes.bad ? NULL : text;
}

/* By an index into a table of offsets. */
static const char *string_by_index(struct dwarf_unit *unit, uint64_t index)
{
	const struct span *sections = unit->dwarf->sections;
	struct span table = sections[DWARF_STR_OFFSETS];
	struct bytes bytes;
	uint64_t offset;

	if (index > table.size)
		return NULL;
	bytes = bytes_from(table, unit->str_offsets_base +
			   index * unit->offset_size);
	offset = bytes_number(&bytes, unit->offset_size);
	return bytes.bad ? NULL : string_at(sections[DWARF_STR], offset);
}

const char *dwarf_string(struct dwarf_unit *unit,
			 const struct dwarf_value *value)
{
	struct dwarf *dwarf = unit->dwarf;

	switch (value->form) {
	case DW_FORM_string:
		return (const char *)value->data;
	case DW_FORM_strp:
		return string_at(dwarf->sections[DWARF_STR], value->number);
	case DW_FORM_line_strp:
		return string_at(dwarf->sections[DWARF_LINE_STR],
				 value->number);
	case DW_FORM_GNU_strp_alt: case DW_FORM_strp_sup:
		return dwarf->alt ? string_at(dwarf->alt->sections[DWARF_STR],
					      value->number) : NULL;
	case DW_FORM_strx: case DW_FORM_strx1: case DW_FORM_strx2:
	case DW_FORM_strx3: case DW_FORM_strx4: case DW_FORM_GNU_str_index:
		return string_by_index(unit, value->number);
	default:
		return NULL;
	}
}

bool dwarf_address_index(struct dwarf_unit *unit, uint64_t index,
			 uint64_t *address)
{
	/* A .dwo has no addresses: the linker could not change them. */
	const struct dwarf_unit *owner = unit->skeleton ? unit->skeleton :
		unit;
	struct span table = owner->dwarf->sections[DWARF_ADDR];
	struct bytes bytes;

	if (index > table.size)
		return false;
	bytes = bytes_from(table, owner->addr_base +
			   index * owner->address_size);
	*address = bytes_number(&bytes, owner->address_size);
	return !bytes.bad;
}

bool dwarf_address(struct dwarf_unit *unit, const struct dwarf_value *value,
		   uint64_t *address)
{
	switch (value->form) {
	case DW_FORM_addr:
		*address = value->number;
		return true;
	case DW_FORM_addrx: case DW_FORM_addrx1: case DW_FORM_addrx2:
	case DW_FORM_addrx3: case DW_FORM_addrx4: case DW_FORM_GNU_addr_index:
		return dwarf_address_index(unit, value->number, address);
	default:
		return false;
	}
}

struct dwarf_unit *dwarf_reference(struct dwarf_unit *unit,
				   const struct dwarf_value *value,
				   uint64_t *offset)
{
	struct dwarf *dwarf = unit->dwarf;

	DEBUG_ASSERT(unit->offset <= unit->end);
	*offset = value->number;
	switch (value->form) {
	case DW_FORM_ref1: case DW_FORM_ref2: case DW_FORM_ref4:
	case DW_FORM_ref8: case DW_FORM_ref_udata:
		if (value->number > unit->end - unit->offset)
			return NULL;
		*offset += unit->offset;
		return unit;
	case DW_FORM_ref_addr:
		return dwarf_unit_of(dwarf, *offset);
	case DW_FORM_GNU_ref_alt: case DW_FORM_ref_sup4:
	case DW_FORM_ref_sup8:
		return dwarf->alt ? dwarf_unit_of(dwarf->alt, *offset) : NULL;
	default:
		return NULL;
	}
}
