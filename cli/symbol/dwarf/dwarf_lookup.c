/*
 * dwarf_lookup.c: the line of the innermost function is from the line table.
 * The lines of the functions around it are the call lines of the inlined
 * functions.
 */
#include "cli/symbol/dwarf/dwarf_lookup.h"

#include <string.h>

#include "cli/symbol/dwarf/dwarf_entry.h"
#include "unwind/base/assertion.h"

bool dwarf_lookup_open(struct dwarf_lookup *lookup, struct dwarf_unit *unit,
		       struct dwarf_unit *entries)
{
	DEBUG_ASSERT(entries == unit || entries->skeleton == unit);
	memset(lookup, 0, sizeof(*lookup));
	lookup->unit = unit;
	lookup->entries = entries;
	/* A unit may be read again after it was dropped from memory. */
	if (!atomic_exchange_explicit(&entries->charged, true,
				      memory_order_relaxed) &&
	    !dwarf_charge(entries->dwarf, entries->end - entries->offset))
		return false;
	dwarf_functions_read(&lookup->functions, entries);
	dwarf_lines_read(&lookup->lines, unit);
	return true;
}

void dwarf_lookup_close(struct dwarf_lookup *lookup)
{
	dwarf_functions_free(&lookup->functions);
	dwarf_lines_free(&lookup->lines);
}

size_t dwarf_lookup_at(const struct dwarf_lookup *lookup, uint64_t address,
		       struct dwarf_frame frames[DWARF_INLINE_MAX])
{
	const struct dwarf_row *row = dwarf_lines_at(&lookup->lines, address);
	uint32_t found[DWARF_INLINE_MAX];
	size_t count = dwarf_functions_at(&lookup->functions, address, found,
					  DWARF_INLINE_MAX);
	struct dwarf_frame here = { UINT32_MAX, UINT32_MAX, 0, 0, false };

	DEBUG_ASSERT(count <= DWARF_INLINE_MAX);
	if (row != NULL) {
		here.file = row->file;
		here.line = row->line;
		here.column = row->column;
	}
	for (size_t i = 0; i < count; i++) {
		const struct dwarf_function *function =
			&lookup->functions.list[found[i]];

		frames[i] = here;
		frames[i].function = found[i];
		frames[i].inlined = function->inlined && i + 1 < count;
		here.file = function->call_file;
		here.line = function->call_line;
		here.column = function->call_column;
	}
	if (count == 0)
		frames[count++] = here;
	return count;
}

struct dwarf_naming dwarf_lookup_name(const struct dwarf_lookup *lookup,
				      uint32_t function)
{
	DEBUG_ASSERT(function < lookup->functions.count);
	return dwarf_name(lookup->entries,
			  lookup->functions.list[function].entry);
}
