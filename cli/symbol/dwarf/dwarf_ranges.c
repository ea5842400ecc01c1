/*
 * dwarf_ranges.c: the code ranges of an entry: from DW_AT_low_pc to _high_pc,
 * or a list (.debug_ranges up to version 4, .debug_rnglists from 5 on). Code
 * that the linker removed has address 0 or one of the highest; the callers drop
 * it.
 */
#include <dwarf.h>

#include "unwind/base/assertion.h"

#include "cli/symbol/dwarf/dwarf_entry.h"

struct take {
	void (*take)(void *owner, uint64_t low, uint64_t high);
	void *owner;
};

static void give(const struct take *take, uint64_t low, uint64_t high)
{
	if (low < high)
		take->take(take->owner, low, high);
}

/* Pairs of offsets from a base; the highest address marks a new base. */
static void read_ranges(struct dwarf_unit *unit, uint64_t offset,
			const struct take *take)
{
	const struct dwarf_unit *owner = unit->skeleton ? unit->skeleton :
		unit;
	struct bytes bytes = bytes_from(owner->dwarf->sections[DWARF_RANGES],
					offset);
	unsigned size = unit->address_size;
	uint64_t base = owner->low, start, end;
	uint64_t last = size == 4 ? UINT32_MAX : UINT64_MAX;

	DEBUG_ASSERT(size == 4 || size == 8);
	for (;;) {
		start = bytes_number(&bytes, size);
		end = bytes_number(&bytes, size);
		if (bytes.bad || (start == 0 && end == 0) ||
		    !dwarf_charge(unit->dwarf, 2 * size))
			return;
		if (start == last)
			base = end;
		else if (start != end)
			give(take, base + start, base + end);
	}
}

/* One range with a base or none; false: damaged. */
static bool read_item(struct dwarf_unit *unit, struct bytes *bytes,
		      unsigned kind, uint64_t *base, const struct take *take)
{
	uint64_t low, high;

	switch (kind) {
	case DW_RLE_base_addressx:
		return dwarf_address_index(unit, bytes_uleb(bytes), base);
	case DW_RLE_base_address:
		*base = bytes_number(bytes, unit->address_size);
		return true;
	case DW_RLE_startx_endx:
		if (!dwarf_address_index(unit, bytes_uleb(bytes), &low) ||
		    !dwarf_address_index(unit, bytes_uleb(bytes), &high))
			return false;
		break;
	case DW_RLE_startx_length:
		if (!dwarf_address_index(unit, bytes_uleb(bytes), &low))
			return false;
		high = low + bytes_uleb(bytes);
		break;
	case DW_RLE_offset_pair:
		low = *base + bytes_uleb(bytes);
		high = *base + bytes_uleb(bytes);
		break;
	case DW_RLE_start_end:
		low = bytes_number(bytes, unit->address_size);
		high = bytes_number(bytes, unit->address_size);
		break;
	case DW_RLE_start_length:
		low = bytes_number(bytes, unit->address_size);
		high = low + bytes_uleb(bytes);
		break;
	default:
		return false;
	}
	if (!bytes->bad)
		give(take, low, high);
	return true;
}

static void read_rnglist(struct dwarf_unit *unit, uint64_t offset,
			 const struct take *take)
{
	struct bytes bytes = bytes_from(unit->dwarf->sections[DWARF_RNGLISTS],
					offset);
	uint64_t base = unit->skeleton ? unit->skeleton->low : unit->low;
	unsigned kind;

	while ((kind = bytes_u8(&bytes)) != DW_RLE_end_of_list &&
	       dwarf_charge(unit->dwarf, 2) &&
	       read_item(unit, &bytes, kind, &base, take) && !bytes.bad)
		;
}

/* A list by its index: its offset is in the table after the header. */
static void read_rnglistx(struct dwarf_unit *unit, uint64_t index,
			  const struct take *take)
{
	struct span lists = unit->dwarf->sections[DWARF_RNGLISTS];
	struct bytes bytes;
	uint64_t offset;

	if (index > lists.size)
		return;
	bytes = bytes_from(lists, unit->rnglists_base +
			   index * unit->offset_size);
	offset = bytes_number(&bytes, unit->offset_size);
	if (!bytes.bad)
		read_rnglist(unit, unit->rnglists_base + offset, take);
}

void dwarf_ranges_each(struct dwarf_unit *unit,
		       const struct dwarf_entry *entry,
		       void (*take)(void *owner, uint64_t low, uint64_t high),
		       void *owner)
{
	const struct take give_to = { take, owner };
	uint64_t low, high;

	if (entry->has_ranges) {
		if (entry->ranges.form == DW_FORM_rnglistx)
			read_rnglistx(unit, entry->ranges.number, &give_to);
		else if (unit->version >= 5)
			read_rnglist(unit, entry->ranges.number, &give_to);
		else
			read_ranges(unit, entry->ranges.number +
				    (unit->skeleton ?
				     unit->skeleton->ranges_base : 0),
				    &give_to);
		return;
	}
	if (!entry->has_low || !entry->has_high ||
	    !dwarf_address(unit, &entry->low, &low))
		return;
	/* high_pc is an address, or a size. */
	if (!dwarf_address(unit, &entry->high, &high))
		high = low + entry->high.number;
	give(&give_to, low, high);
}
