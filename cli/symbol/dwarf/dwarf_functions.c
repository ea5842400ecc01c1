/*
 * dwarf_functions.c: one pass over a unit's entries. Most are types, which are
 * skipped by the size in their abbreviation.
 */
#include "cli/symbol/dwarf/dwarf_functions.h"

#include <stdlib.h>
#include <string.h>

#include <dwarf.h>

#include "cli/base/grow.h"
#include "cli/base/search.h"
#include "cli/symbol/dwarf/dwarf_entry.h"
#include "unwind/base/assertion.h"

/* Compilers nest at most some hundred. */
#define DEPTH_MAX 4096
#define NONE UINT32_MAX

/* ---- reading ---- */

static void take_range(void *owner, uint64_t low, uint64_t high)
{
	struct dwarf_functions *functions = owner;
	struct dwarf_range range = { low, high };

	/* Address 0: the linker removed it. */
	DEBUG_ASSERT(low < high);
	if (low == 0 || functions->range_count == UINT32_MAX)
		return;
	GROW(functions->ranges, functions->range_count,
	     functions->range_capacity);
	functions->ranges[functions->range_count++] = range;
}

static void add_pieces(struct dwarf_functions *functions, uint32_t index)
{
	const struct dwarf_function *function = &functions->list[index];

	DEBUG_ASSERT(function->first_range + function->range_count <=
		     functions->range_count);
	for (uint32_t i = 0; i < function->range_count; i++) {
		const struct dwarf_range *range =
			&functions->ranges[function->first_range + i];
		struct dwarf_piece piece = { range->low, range->high, 0,
					     index };

		GROW(functions->pieces, functions->piece_count,
		     functions->piece_capacity);
		functions->pieces[functions->piece_count++] = piece;
	}
}

/* Its index, or NONE: it has no code, such as a declaration. */
static uint32_t add_function(struct dwarf_functions *functions,
			     struct dwarf_unit *unit, uint64_t offset,
			     const struct dwarf_entry *entry)
{
	size_t first = functions->range_count;
	struct dwarf_function *function;

	dwarf_ranges_each(unit, entry, take_range, functions);
	if (functions->range_count == first || functions->count == NONE - 1)
		return NONE;
	GROW(functions->list, functions->count, functions->capacity);
	function = &functions->list[functions->count];
	memset(function, 0, sizeof(*function));
	function->entry = offset;
	function->first_range = (uint32_t)first;
	function->range_count = (uint32_t)(functions->range_count - first);
	function->inlined = entry->tag == DW_TAG_inlined_subroutine;
	function->call_file = (uint32_t)entry->call_file;
	function->call_line = (uint32_t)entry->call_line;
	function->call_column = (uint32_t)entry->call_column;
	function->next = (uint32_t)functions->count + 1;
	DEBUG_ASSERT(function->range_count > 0);
	if (!function->inlined)
		add_pieces(functions, (uint32_t)functions->count);
	return (uint32_t)functions->count++;
}

static bool is_function(unsigned tag)
{
	return tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine;
}

static void read_entries(struct dwarf_functions *functions,
			 struct dwarf_unit *unit,
			 const struct dwarf_abbrevs *abbrevs)
{
	const uint8_t *start = unit->dwarf->sections[DWARF_INFO].data;
	struct bytes bytes = dwarf_bytes_at(unit, unit->root);
	uint32_t open[DEPTH_MAX];
	size_t depth = 0;

	while (!bytes.bad && bytes_left(&bytes) > 0) {
		uint64_t offset = (uint64_t)(bytes.at - start);
		uint64_t code = bytes_uleb(&bytes);
		const struct dwarf_abbrev *abbrev;
		struct dwarf_entry entry;
		uint32_t index = NONE;

		if (code == 0) {
			if (depth == 0)
				break;
			index = open[--depth];
			DEBUG_ASSERT(index == NONE || index < functions->count);
			if (index != NONE)
				functions->list[index].next =
					(uint32_t)functions->count;
			continue;
		}
		abbrev = dwarf_abbrev_find(abbrevs, code);
		if (abbrev == NULL)
			break;
		if (is_function(abbrev->tag)) {
			dwarf_entry_read(&bytes, unit, abbrevs, abbrev,
					 &entry);
			index = add_function(functions, unit, offset, &entry);
		} else {
			dwarf_values_skip(&bytes, unit, abbrevs, abbrev);
		}
		if (!abbrev->children)
			continue;
		if (depth == DEPTH_MAX)
			break;
		open[depth++] = index;
	}
	/* At the point of damage, all open functions end. */
	while (depth > 0)
		if (open[--depth] != NONE)
			functions->list[open[depth]].next =
				(uint32_t)functions->count;
}

static int by_low(const void *a, const void *b)
{
	const struct dwarf_piece *x = a, *y = b;

	if (x->low != y->low)
		return x->low < y->low ? -1 : 1;
	if (x->high != y->high)
		return x->high > y->high ? -1 : 1;
	/* Identical code folded by the linker: the first function is found. */
	return x->function > y->function ? -1 : x->function < y->function;
}

#ifdef GNOMON_DEBUG_ASSERTS
bool dwarf_functions_is_valid(const struct dwarf_functions *functions)
{
	uint64_t reach = 0;

	for (size_t i = 0; i < functions->count; i++) {
		const struct dwarf_function *f = &functions->list[i];

		if (f->next <= i || f->next > functions->count ||
		    f->range_count == 0 ||
		    (size_t)f->first_range + f->range_count >
			    functions->range_count)
			return false;
	}
	for (size_t i = 0; i < functions->piece_count; i++) {
		const struct dwarf_piece *piece = &functions->pieces[i];

		if (reach < piece->high)
			reach = piece->high;
		if (piece->function >= functions->count ||
		    piece->reach != reach || (i && by_low(piece - 1, piece) > 0))
			return false;
	}
	return true;
}
#endif

void dwarf_functions_read(struct dwarf_functions *functions,
			  struct dwarf_unit *unit)
{
	const struct dwarf_abbrevs *abbrevs = dwarf_abbrevs_of(unit);
	uint64_t reach = 0;

	memset(functions, 0, sizeof(*functions));
	if (abbrevs != NULL)
		read_entries(functions, unit, abbrevs);
	if (functions->piece_count > 1)
		qsort(functions->pieces, functions->piece_count,
		      sizeof(*functions->pieces), by_low);
	for (size_t i = 0; i < functions->piece_count; i++) {
		if (reach < functions->pieces[i].high)
			reach = functions->pieces[i].high;
		functions->pieces[i].reach = reach;
	}
	DEBUG_ASSERT(dwarf_functions_is_valid(functions));
}

void dwarf_functions_free(struct dwarf_functions *functions)
{
	free(functions->list);
	free(functions->ranges);
	free(functions->pieces);
	memset(functions, 0, sizeof(*functions));
}

/* ---- looking up ---- */

static bool begins_above(const void *list, size_t i, uint64_t address)
{
	return ((const struct dwarf_piece *)list)[i].low > address;
}

static uint32_t outermost(const struct dwarf_functions *functions,
			  uint64_t address)
{
	const struct dwarf_piece *pieces = functions->pieces;
	size_t i = search_first(pieces, functions->piece_count, begins_above,
				address);

	for (; i > 0 && pieces[i - 1].reach > address; i--)
		if (pieces[i - 1].high > address)
			return pieces[i - 1].function;
	return NONE;
}

static bool covers(const struct dwarf_functions *functions, uint32_t index,
		   uint64_t address)
{
	const struct dwarf_function *function = &functions->list[index];
	const struct dwarf_range *range =
		functions->ranges + function->first_range;

	DEBUG_ASSERT((size_t)function->first_range + function->range_count <=
		     functions->range_count);
	for (uint32_t i = 0; i < function->range_count; i++)
		if (address >= range[i].low && address < range[i].high)
			return true;
	return false;
}

size_t dwarf_functions_at(const struct dwarf_functions *functions,
			  uint64_t address, uint32_t *found, size_t max)
{
	uint32_t at = outermost(functions, address), end;
	size_t count = 0;

	if (at == NONE || max == 0)
		return 0;
	found[count++] = at;
	DEBUG_ASSERT(at < functions->count);
	end = functions->list[at].next;
	for (at++; at < end;) {
		const struct dwarf_function *inner = &functions->list[at];

		DEBUG_ASSERT(inner->next > at);
		DEBUG_ASSERT(inner->next <= end);
		if (!inner->inlined || !covers(functions, at, address)) {
			at = inner->next;
			continue;
		}
		/* Beyond the limit, drop the outermost. */
		if (count == max) {
			memmove(found, found + 1,
				(max - 1) * sizeof(*found));
			count--;
		}
		found[count++] = at;
		end = inner->next;
		at++;
	}
	DEBUG_ASSERT(count > 0 && count <= max);
	for (size_t i = 0; i < count / 2; i++) {
		uint32_t other = found[i];

		found[i] = found[count - 1 - i];
		found[count - 1 - i] = other;
	}
	return count;
}
