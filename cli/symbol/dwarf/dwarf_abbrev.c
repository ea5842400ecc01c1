/*
 * dwarf_abbrev.c: tables of abbreviations. Several units may share a table
 * (dwz, link-time optimisation), so the file owns them, under its lock. A
 * unit's pointer to its table is set once and read without the lock.
 */
#include <stdlib.h>

#include <dwarf.h>

#include "cli/base/grow.h"
#include "cli/base/search.h"
#include "cli/symbol/dwarf/dwarf_entry.h"
#include "unwind/base/assertion.h"

/* Compilers need some 40. Implicit constants take no bytes in an entry, so
 * their number bounds the time for each byte. */
#define ATTRIBUTES_MAX 256

/* Size of a form's value; -1: it varies. */
static int form_size(const struct dwarf_abbrevs *table, uint64_t form)
{
	switch (form) {
	case DW_FORM_flag_present: case DW_FORM_implicit_const:
		return 0;
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
	case DW_FORM_data16:
		return 16;
	case DW_FORM_addr:
		return table->address_size;
	case DW_FORM_ref_addr:
		return table->version < 3 ? table->address_size :
			table->offset_size;
	case DW_FORM_strp: case DW_FORM_line_strp: case DW_FORM_sec_offset:
	case DW_FORM_strp_sup: case DW_FORM_GNU_strp_alt:
	case DW_FORM_GNU_ref_alt:
		return table->offset_size;
	default:
		return -1;
	}
}

static bool read_attributes(struct dwarf_abbrevs *table, struct bytes *bytes,
			    struct dwarf_abbrev *abbrev)
{
	bool fixed = true;

	abbrev->first = (uint32_t)table->attribute_count;
	for (;;) {
		struct dwarf_attribute attribute;
		uint64_t name = bytes_uleb(bytes), form = bytes_uleb(bytes);
		int size = form_size(table, form);

		if (bytes->bad || name > UINT16_MAX || form > UINT16_MAX)
			return false;
		if (name == 0 && form == 0)
			break;
		attribute.name = (uint16_t)name;
		attribute.form = (uint16_t)form;
		attribute.constant = form == DW_FORM_implicit_const ?
			bytes_sleb(bytes) : 0;
		if (abbrev->count++ == ATTRIBUTES_MAX)
			return false;
		GROW(table->attributes, table->attribute_count,
		     table->attribute_capacity);
		table->attributes[table->attribute_count++] = attribute;
		if (size < 0)
			fixed = false;
		else
			abbrev->size += (unsigned)size;
	}
	if (!fixed)
		abbrev->size = 0;
	DEBUG_ASSERT(abbrev->first + abbrev->count == table->attribute_count);
	return !bytes->bad;
}

/* Read one more; false: the end of the table, or damage. */
static bool read_one(struct dwarf_abbrevs *table, struct bytes *bytes)
{
	struct dwarf_abbrev abbrev = { .code = bytes_uleb(bytes) };

	if (abbrev.code == 0)
		return false;
	abbrev.tag = (uint16_t)bytes_uleb(bytes);
	abbrev.children = bytes_u8(bytes) != 0;
	if (!read_attributes(table, bytes, &abbrev))
		return false;
	GROW(table->list, table->count, table->capacity);
	table->list[table->count++] = abbrev;
	return true;
}

static int by_code(const void *a, const void *b)
{
	const struct dwarf_abbrev *x = a, *y = b;

	return x->code < y->code ? -1 : x->code > y->code;
}

static struct dwarf_abbrevs *new_table(const struct dwarf_unit *unit)
{
	struct dwarf_abbrevs *table = grow_zeroed(1, sizeof(*table));

	table->offset = unit->abbrev_offset;
	table->address_size = unit->address_size;
	table->offset_size = unit->offset_size;
	table->version = unit->version;
	return table;
}

static struct dwarf_abbrevs *read_table(struct dwarf_unit *unit)
{
	struct bytes bytes = bytes_from(unit->dwarf->sections[DWARF_ABBREV],
					unit->abbrev_offset);
	struct dwarf_abbrevs *table = new_table(unit);
	const uint8_t *start = bytes.at;

	while (read_one(table, &bytes))
		;
	dwarf_charge(unit->dwarf, (uint64_t)(bytes.at - start));
	table->dense = true;
	for (size_t i = 0; i < table->count; i++)
		if (table->list[i].code != i + 1)
			table->dense = false;
	if (!table->dense)
		qsort(table->list, table->count, sizeof(*table->list),
		      by_code);
	return table;
}

static struct dwarf_abbrevs *find_table(const struct dwarf_unit *unit)
{
	const struct dwarf *dwarf = unit->dwarf;

	for (size_t i = dwarf->table_count; i-- > 0;) {
		struct dwarf_abbrevs *table = dwarf->tables[i];

		if (table->offset == unit->abbrev_offset &&
		    table->version == unit->version &&
		    table->address_size == unit->address_size &&
		    table->offset_size == unit->offset_size)
			return table;
	}
	return NULL;
}

const struct dwarf_abbrevs *dwarf_abbrevs_of(struct dwarf_unit *unit)
{
	/* Pairs with the release below. */
	struct dwarf_abbrevs *table = atomic_load_explicit(&unit->abbrevs,
						memory_order_acquire);
	struct dwarf *dwarf = unit->dwarf;

	if (table != NULL)
		return table;
	pthread_mutex_lock(&dwarf->lock);
	table = find_table(unit);
	if (table == NULL && dwarf_charge(dwarf, 1)) {
		table = read_table(unit);
		GROW(dwarf->tables, dwarf->table_count,
		     dwarf->table_capacity);
		dwarf->tables[dwarf->table_count++] = table;
	}
	pthread_mutex_unlock(&dwarf->lock);
	DEBUG_ASSERT(table == NULL || table->offset == unit->abbrev_offset);
	atomic_store_explicit(&unit->abbrevs, table, memory_order_release);
	return table;
}

struct dwarf_abbrevs *dwarf_abbrevs_first(struct dwarf_unit *unit)
{
	struct bytes entry = dwarf_bytes_at(unit, unit->root);
	uint64_t code = bytes_uleb(&entry);
	struct bytes bytes = bytes_from(unit->dwarf->sections[DWARF_ABBREV],
					unit->abbrev_offset);
	struct dwarf_abbrevs *table = new_table(unit);
	const uint8_t *start = bytes.at;

	while (read_one(table, &bytes) &&
	       table->list[table->count - 1].code != code)
		;
	dwarf_charge(unit->dwarf, (uint64_t)(bytes.at - start));
	if (table->count > 1) {
		table->list[0] = table->list[table->count - 1];
		table->count = 1;
	}
	DEBUG_ASSERT(table->count <= 1);
	return table;
}

void dwarf_abbrevs_free(struct dwarf_abbrevs *abbrevs)
{
	free(abbrevs->list);
	free(abbrevs->attributes);
	free(abbrevs);
}

static bool is_not_below(const void *list, size_t i, uint64_t code)
{
	return ((const struct dwarf_abbrev *)list)[i].code >= code;
}

const struct dwarf_abbrev *dwarf_abbrev_find(
	const struct dwarf_abbrevs *abbrevs, uint64_t code)
{
	size_t i;

	DEBUG_ASSERT(!abbrevs->dense || code - 1 >= abbrevs->count ||
		     abbrevs->list[code - 1].code == code);
	if (abbrevs->dense)
		return code - 1 < abbrevs->count ? &abbrevs->list[code - 1] :
			NULL;
	i = search_first(abbrevs->list, abbrevs->count, is_not_below, code);
	return i < abbrevs->count && abbrevs->list[i].code == code ?
		&abbrevs->list[i] : NULL;
}
