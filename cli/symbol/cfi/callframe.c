/*
 * callframe.c: reads the sections of unwind tables. A record is a CIE, or an
 * FDE that refers to its CIE: in .eh_frame by the distance backwards, in
 * .debug_frame by an offset in the section, possibly of a later record. So CIEs
 * are read in a first pass, and found by their offsets.
 *
 *  I1  CIEs of a section are sorted by offset.
 *  I2  An invalid record is left out and counted; an invalid length ends the
 *      pass.
 */
#include "cli/symbol/cfi/callframe.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "cli/base/search.h"
#include "cli/base/sort.h"
#include "cli/symbol/cfi/callframe_exidx.h"
#include "cli/symbol/elf/encoded.h"
#include "unwind/base/assertion.h"

/* The head of a record. */
struct record {
	uint64_t at;
	struct bytes body;	/* after the id */
	uint64_t id_at, id;
	bool common;
};

static uint64_t place(const struct callframe *table, unsigned source,
		      const struct bytes *bytes)
{
	return (uint64_t)(bytes->at - table->section[source].data);
}

uint64_t callframe_pointer(const struct callframe *table, struct bytes *bytes,
			   uint64_t address, uint8_t encoding)
{
	uint64_t value = encoded_number(bytes, encoding, table->address_size);

	if (bytes->bad)
		return 0;
	if ((encoding & 0x70) == DW_EH_PE_pcrel)
		value += address;
	return table->address_size == 4 ? (uint32_t)value : value;
}

/* False at the end. */
static bool next_record(const struct callframe *table, unsigned source,
			struct bytes *bytes, struct record *record)
{
	uint8_t offset_size;
	uint64_t length;

	if (bytes_left(bytes) < 4)
		return false;
	record->at = place(table, source, bytes);
	length = bytes_length(bytes, &offset_size);
	record->body = *bytes;
	bytes_skip(bytes, length);
	if (bytes->bad || length == 0)
		return false;
	record->body.end = bytes->at;
	record->id_at = place(table, source, &record->body);
	/* .eh_frame always has 4 bytes */
	record->id = bytes_number(&record->body, source == CALLFRAME_EH ? 4 :
				  offset_size);
	record->common = source == CALLFRAME_EH ? record->id == 0 :
		record->id == (offset_size == 8 ? UINT64_MAX : UINT32_MAX);
	return true;
}

/* ---- CIEs ---- */

static bool read_augmentation(const struct callframe *table,
			      struct bytes *body, const char *letters,
			      struct callframe_common *common)
{
	uint64_t size = bytes_uleb(body);
	struct bytes data = *body;

	bytes_skip(body, size);
	if (body->bad)
		return false;
	data.end = body->at;
	for (; *letters != 0; letters++) {
		switch (*letters) {
		case 'R':
			common->encoding = bytes_u8(&data);
			break;
		case 'L':
			common->lsda_encoding = bytes_u8(&data);
			break;
		case 'P':
			callframe_pointer(table, &data, 0,
					  bytes_u8(&data) & 0x0f);
			break;
		case 'S':
			common->signal = true;
			break;
		case 'B':	/* AArch64: the signing key */
		case 'G':
			break;
		default:	/* unknown, but its length is known */
			return true;
		}
	}
	return !data.bad;
}

static bool read_common(const struct callframe *table, unsigned source,
			const struct record *record,
			struct callframe_common *common)
{
	struct bytes body = record->body;
	unsigned version = bytes_u8(&body);
	const char *letters = bytes_string(&body);

	*common = (struct callframe_common){
		.at = record->at,
		.address_size = table->address_size,
		.encoding = DW_EH_PE_absptr,
		.lsda_encoding = DW_EH_PE_omit,
	};
	if (version != 1 && version != 3 && version != 4)
		return false;
	if (version == 4) {
		common->address_size = bytes_u8(&body);
		if (common->address_size != table->address_size ||
		    bytes_u8(&body) != 0)
			return false;
	}
	common->code_align = bytes_uleb(&body);
	common->data_align = bytes_sleb(&body);
	common->ra_column = (uint16_t)(version == 1 ? bytes_u8(&body) :
				       bytes_uleb(&body));
	common->has_size = letters[0] == 'z';
	if (common->has_size &&
	    !read_augmentation(table, &body, letters + 1, common))
		return false;
	if (!common->has_size && letters[0] != 0)
		return false;
	common->program = place(table, source, &body);
	common->program_end = place(table, source, &record->body) +
		bytes_left(&record->body);
	return !body.bad && common->ra_column < CALLFRAME_COLUMNS;
}

static bool stands_behind(const void *list, size_t i, uint64_t at)
{
	return ((const struct callframe_common *)list)[i].at > at;
}

/* ---- FDEs ---- */

static bool read_entry(struct callframe *table, unsigned source, size_t first,
		       const struct record *record,
		       struct callframe_entry *entry)
{
	const struct callframe_common *common;
	struct bytes body = record->body;
	uint64_t at = source == CALLFRAME_EH ? record->id_at - record->id :
		record->id;
	size_t i = search_first(table->commons + first,
				table->common_count - first, stands_behind,
				at);
	uint64_t size;

	if (i == 0 || table->commons[first + i - 1].at != at)
		return false;
	common = &table->commons[first + i - 1];
	*entry = (struct callframe_entry){
		.source = (uint8_t)source, .at = record->at,
		.common = (uint32_t)(first + i - 1),
	};
	entry->start = callframe_pointer(table, &body, table->address[source] +
					 place(table, source, &body),
					 common->encoding);
	size = callframe_pointer(table, &body, 0, common->encoding & 0x0f);
	entry->end = entry->start + size;
	if (common->has_size) {
		uint64_t length = bytes_uleb(&body);
		struct bytes data = body;

		bytes_skip(&body, length);
		if (common->lsda_encoding != DW_EH_PE_omit && length > 0)
			entry->lsda = callframe_pointer(
				table, &data, table->address[source] +
				place(table, source, &data),
				common->lsda_encoding);
		/* 0 means none, whatever the base */
		if (entry->lsda == table->address[source] +
		    place(table, source, &body) - length)
			entry->lsda = 0;
	}
	entry->program = place(table, source, &body);
	entry->program_end = place(table, source, &record->body) +
		bytes_left(&record->body);
	return !body.bad && entry->end >= entry->start;
}

static void read_section(struct callframe *table, unsigned source)
{
	size_t first = table->common_count;
	struct bytes bytes = bytes_from(table->section[source], 0);
	struct callframe_common common;
	struct callframe_entry entry;
	struct record record;

	while (next_record(table, source, &bytes, &record)) {
		if (!record.common)
			continue;
		if (!read_common(table, source, &record, &common)) {
			table->left_out++;
			continue;
		}
		GROW(table->commons, table->common_count,
		     table->common_capacity);
		table->commons[table->common_count++] = common;
	}
	bytes = bytes_from(table->section[source], 0);
	while (next_record(table, source, &bytes, &record)) {
		if (record.common)
			continue;
		if (!read_entry(table, source, first, &record, &entry)) {
			table->left_out++;
			continue;
		}
		/* code that the linker dropped, or empty */
		if (entry.start == 0 || entry.start == entry.end)
			continue;
		GROW(table->entries, table->count, table->capacity);
		table->entries[table->count++] = entry;
	}
}

/* ---- the whole ---- */

static int by_start(const void *a, const void *b)
{
	const struct callframe_entry *x = a, *y = b;

	return sort_up(x->start, y->start) ?: sort_up(x->source, y->source) ?:
		sort_up(x->at, y->at);
}

/* .debug_frame has no call-site tables. The .ARM.exidx entry of the same
 * function has one, and is the next entry. */
static void share_call_sites(struct callframe *table)
{
	for (size_t i = 1; i < table->count; i++) {
		struct callframe_entry *entry = &table->entries[i - 1];

		if (entry[1].source == CALLFRAME_EXIDX &&
		    entry[1].start == entry->start && entry->lsda == 0)
			entry->lsda = entry[1].lsda;
	}
}

void callframe_open(struct callframe *table, struct elffile *file)
{
	static const char *const names[] = { ".eh_frame", ".debug_frame" };
	const Elf64_Ehdr *header = &file->tables.header;

	*table = (struct callframe){
		.file = file, .machine = header->e_machine,
		.address_size = header->e_ident[EI_CLASS] == ELFCLASS32 ? 4 : 8,
	};
	for (unsigned source = 0; source < 2; source++) {
		table->section[source] = elffile_section(file, names[source]);
		table->address[source] =
			elffile_section_address(file, names[source]);
		if (table->section[source].size > 0)
			read_section(table, source);
	}
	if (table->machine == EM_ARM)
		callframe_exidx_add(table);
	SORT(table->entries, table->count, by_start);
	share_call_sites(table);
}

void callframe_free(struct callframe *table)
{
	free(table->commons);
	free(table->entries);
	memset(table, 0, sizeof(*table));
}

static bool begins_behind(const void *list, size_t i, uint64_t address)
{
	return ((const struct callframe_entry *)list)[i].start > address;
}

size_t callframe_behind(const struct callframe *table, uint64_t address)
{
	return search_first(table->entries, table->count, begins_behind,
			    address);
}

const struct callframe_entry *callframe_find(const struct callframe *table,
					     uint64_t address)
{
	size_t i = callframe_behind(table, address);
	enum { LOOKED_AT = 8 };	/* entries hardly ever overlap */

	for (unsigned n = 0; i > 0 && n < LOOKED_AT; n++, i--)
		if (table->entries[i - 1].end > address)
			return &table->entries[i - 1];
	return NULL;
}

struct span callframe_expression(const struct callframe *table,
				 const struct callframe_entry *entry,
				 uint64_t value)
{
	struct bytes bytes;
	uint64_t size;

	DEBUG_ASSERT(entry->source != CALLFRAME_EXIDX);
	bytes = bytes_from(table->section[entry->source], value);
	size = bytes_uleb(&bytes);
	if (bytes.bad || size > bytes_left(&bytes))
		return (struct span){ 0 };
	return (struct span){ bytes.at, size, bytes.big };
}

unsigned callframe_ra(const struct callframe *table,
		      const struct callframe_entry *entry)
{
	return entry->source == CALLFRAME_EXIDX ? CALLFRAME_EXIDX_RA :
		table->commons[entry->common].ra_column;
}
