/*
 * dwarf_lines.c: executes the line number program: instructions for a machine
 * with a few registers, each of which may add a row (DWARF 5, 6.2).
 *
 *	header: lengths of instructions, directories, files
 *	program: special opcodes (a row each), standard, extended
 *
 * Rows become sequences, which are sorted. Then an address is found by two
 * binary searches. Sequences at address 0 were removed by the linker.
 */
#include "cli/symbol/dwarf/dwarf_lines.h"

#include <stdlib.h>
#include <string.h>

#include <dwarf.h>

#include "cli/base/grow.h"
#include "cli/base/search.h"
#include "cli/symbol/dwarf/dwarf_entry.h"
#include "unwind/base/assertion.h"

/* Pairs in the format of entries (5 are defined). */
#define FORMAT_MAX 16

struct header {
	struct dwarf_unit unit;	/* for the sizes of forms */
	uint8_t version;
	uint8_t minimum;	/* length of an instruction */
	uint8_t operations;	/* in an instruction; more than 1 for VLIW */
	int8_t line_base;
	uint8_t line_range;
	uint8_t opcode_base;
	uint8_t lengths[256];	/* numbers of operands of standard opcodes */
};

/* ---- files ---- */

static void add_directory(struct dwarf_lines *lines, const char *name)
{
	GROW(lines->directories, lines->directory_count,
	     lines->directory_capacity);
	lines->directories[lines->directory_count++] = name;
}

static void add_file(struct dwarf_lines *lines, const char *name,
		     uint64_t directory)
{
	GROW(lines->files, lines->file_count, lines->file_capacity);
	lines->files[lines->file_count].name = name;
	lines->files[lines->file_count++].directory = directory;
}

/* Up to version 4: strings up to an empty one. Number 0 is the unit's. */
static void read_old_names(struct dwarf_lines *lines, struct bytes *bytes,
			   const struct dwarf_unit *unit)
{
	const char *name;

	add_directory(lines, unit->directory);
	while (*(name = bytes_string(bytes)) != 0)
		add_directory(lines, name);
	add_file(lines, unit->name, 0);
	while (*(name = bytes_string(bytes)) != 0) {
		add_file(lines, name, bytes_uleb(bytes));
		bytes_uleb(bytes);	/* time */
		bytes_uleb(bytes);	/* length */
	}
}

/* From version 5 on: a format of the entries, then the entries. */
static void read_names(struct dwarf_lines *lines, struct bytes *bytes,
		       struct header *header, bool files)
{
	struct { uint64_t content; struct dwarf_attribute form; }
		format[FORMAT_MAX];
	unsigned count = bytes_u8(bytes);
	uint64_t entries;

	if (count > FORMAT_MAX) {
		bytes_fail(bytes);
		return;
	}
	for (unsigned i = 0; i < count; i++) {
		format[i].content = bytes_uleb(bytes);
		memset(&format[i].form, 0, sizeof(format[i].form));
		format[i].form.form = (uint16_t)bytes_uleb(bytes);
	}
	entries = bytes_uleb(bytes);
	while (entries-- > 0 && bytes_left(bytes) > 0) {
		const uint8_t *start = bytes->at;
		const char *name = NULL;
		uint64_t directory = 0;

		for (unsigned i = 0; i < count; i++) {
			struct dwarf_value value;

			dwarf_value_read(bytes, &header->unit,
					 &format[i].form, &value);
			if (format[i].content == DW_LNCT_path)
				name = dwarf_string(&header->unit, &value);
			else if (format[i].content == DW_LNCT_directory_index)
				directory = value.number;
		}
		/* Entries without bytes would never end. */
		if (bytes->at == start)
			bytes_fail(bytes);
		if (bytes->bad)
			return;
		if (files)
			add_file(lines, name, directory);
		else
			add_directory(lines, name);
	}
}

/* ---- rows ---- */

struct machine {
	struct dwarf_lines *lines;
	const struct header *header;
	struct dwarf_row row;
	uint64_t operation;
	size_t first;		/* first row of this sequence */
	bool sorted;
};

static int by_address(const void *a, const void *b)
{
	const struct dwarf_row *x = a, *y = b;

	return x->address < y->address ? -1 : x->address > y->address;
}

static void add_row(struct machine *m)
{
	struct dwarf_lines *lines = m->lines;

	DEBUG_ASSERT(m->first <= lines->row_count);
	GROW(lines->rows, lines->row_count, lines->row_capacity);
	if (lines->row_count > m->first &&
	    lines->rows[lines->row_count - 1].address > m->row.address)
		m->sorted = false;
	lines->rows[lines->row_count++] = m->row;
}

static void reset(struct machine *m)
{
	memset(&m->row, 0, sizeof(m->row));
	m->row.file = 1;
	m->row.line = 1;
	m->operation = 0;
	m->first = m->lines->row_count;
	m->sorted = true;
}

static void end_sequence(struct machine *m)
{
	struct dwarf_lines *lines = m->lines;
	struct dwarf_sequence sequence = { .first = m->first };

	sequence.count = lines->row_count - m->first;
	DEBUG_ASSERT(sequence.count > 0);
	if (!m->sorted)
		qsort(lines->rows + m->first, sequence.count,
		      sizeof(*lines->rows), by_address);
	sequence.low = lines->rows[m->first].address;
	sequence.high = lines->rows[lines->row_count - 1].address;
	DEBUG_ASSERT(sequence.low <= sequence.high);
	if (sequence.low == 0 || sequence.low >= sequence.high) {
		lines->row_count = m->first;
	} else {
		GROW(lines->sequences, lines->sequence_count,
		     lines->sequence_capacity);
		lines->sequences[lines->sequence_count++] = sequence;
	}
	reset(m);
}

static void advance(struct machine *m, uint64_t by)
{
	const struct header *header = m->header;

	if (header->operations <= 1) {
		m->row.address += by * header->minimum;
		return;
	}
	by += m->operation;
	m->row.address += header->minimum * (by / header->operations);
	m->operation = by % header->operations;
}

static void extended(struct machine *m, struct bytes *bytes)
{
	uint64_t size = bytes_uleb(bytes);
	struct bytes own = *bytes;

	bytes_skip(bytes, size);
	if (bytes->bad || size == 0)
		return;
	own.end = bytes->at;
	DEBUG_ASSERT(own.at < own.end);
	switch (bytes_u8(&own)) {
	case DW_LNE_end_sequence:
		add_row(m);
		end_sequence(m);
		break;
	case DW_LNE_set_address:
		if (size - 1 <= 8)
			m->row.address = bytes_number(&own,
						      (unsigned)size - 1);
		m->operation = 0;
		break;
	case DW_LNE_define_file: {
		const char *name = bytes_string(&own);

		add_file(m->lines, name, bytes_uleb(&own));
		break;
	}
	}
}

static void standard(struct machine *m, struct bytes *bytes, unsigned opcode)
{
	DEBUG_ASSERT(opcode > 0 && opcode < m->header->opcode_base);
	switch (opcode) {
	case DW_LNS_copy:
		add_row(m);
		break;
	case DW_LNS_advance_pc:
		advance(m, bytes_uleb(bytes));
		break;
	case DW_LNS_advance_line:
		m->row.line += (uint32_t)bytes_sleb(bytes);
		break;
	case DW_LNS_set_file:
		m->row.file = (uint32_t)bytes_uleb(bytes);
		break;
	case DW_LNS_set_column:
		m->row.column = (uint32_t)bytes_uleb(bytes);
		break;
	case DW_LNS_const_add_pc:
		advance(m, (255u - m->header->opcode_base) /
			m->header->line_range);
		break;
	case DW_LNS_fixed_advance_pc:
		m->row.address += bytes_u16(bytes);
		m->operation = 0;
		break;
	default:
		/* Flags that we do not use, and newer opcodes. */
		for (unsigned i = 0; i < m->header->lengths[opcode]; i++)
			bytes_uleb(bytes);
	}
}

static void run(struct dwarf_lines *lines, const struct header *header,
		struct bytes *bytes)
{
	struct machine m = { .lines = lines, .header = header };

	DEBUG_ASSERT(header->opcode_base > 0 && header->line_range > 0);
	reset(&m);
	while (bytes_left(bytes) > 0) {
		unsigned opcode = bytes_u8(bytes);

		if (opcode >= header->opcode_base) {
			opcode -= header->opcode_base;
			advance(&m, opcode / header->line_range);
			m.row.line += (uint32_t)(header->line_base +
						 (int)(opcode %
						       header->line_range));
			add_row(&m);
		} else if (opcode == 0) {
			extended(&m, bytes);
		} else {
			standard(&m, bytes, opcode);
		}
	}
	DEBUG_ASSERT(m.first <= lines->row_count);
	/* Rows without an end cover no addresses. */
	lines->row_count = m.first;
}

/* Afterwards the cursor is at the names; *program begins at their end. */
static bool read_header(struct header *header, struct bytes *bytes,
			struct bytes *program)
{
	uint8_t offset_size;
	uint64_t length = bytes_length(bytes, &offset_size), names;

	if (bytes->bad || length > bytes_left(bytes))
		return false;
	bytes->end = bytes->at + length;
	header->version = (uint8_t)bytes_u16(bytes);
	if (header->version < 2 || header->version > 5)
		return false;
	header->unit.version = header->version;
	header->unit.offset_size = offset_size;
	if (header->version >= 5) {
		header->unit.address_size = bytes_u8(bytes);
		bytes_u8(bytes);	/* segment selectors: unused */
	}
	names = bytes_number(bytes, offset_size);
	*program = *bytes;
	bytes_skip(program, names);
	header->minimum = bytes_u8(bytes);
	header->operations = header->version >= 4 ? bytes_u8(bytes) : 1;
	bytes_u8(bytes);		/* default_is_stmt */
	header->line_base = (int8_t)bytes_u8(bytes);
	header->line_range = bytes_u8(bytes);
	header->opcode_base = bytes_u8(bytes);
	for (unsigned i = 1; i < header->opcode_base; i++)
		header->lengths[i] = bytes_u8(bytes);
	return !bytes->bad && !program->bad && header->line_range > 0 &&
		header->opcode_base > 0;
}

static int by_low(const void *a, const void *b)
{
	const struct dwarf_sequence *x = a, *y = b;

	if (x->low != y->low)
		return x->low < y->low ? -1 : 1;
	return x->first < y->first ? -1 : x->first > y->first;
}

#ifdef GNOMON_DEBUG_ASSERTS
static bool sequence_is_valid(const struct dwarf_lines *lines,
			      const struct dwarf_sequence *sequence)
{
	const struct dwarf_row *rows = lines->rows + sequence->first;

	if (sequence->count < 2 || sequence->first > lines->row_count ||
	    sequence->count > lines->row_count - sequence->first ||
	    sequence->low == 0 || sequence->low >= sequence->high)
		return false;
	for (size_t i = 1; i < sequence->count; i++)
		if (rows[i - 1].address > rows[i].address)
			return false;
	return rows[0].address == sequence->low &&
	       rows[sequence->count - 1].address == sequence->high;
}

bool dwarf_lines_is_valid(const struct dwarf_lines *lines)
{
	const struct dwarf_sequence *list = lines->sequences;

	for (size_t i = 0; i < lines->sequence_count; i++)
		if (!sequence_is_valid(lines, &list[i]) ||
		    (i > 0 && by_low(&list[i - 1], &list[i]) >= 0))
			return false;
	return true;
}
#endif

void dwarf_lines_read(struct dwarf_lines *lines, struct dwarf_unit *unit)
{
	struct dwarf_unit *owner = unit->skeleton ? unit->skeleton : unit;
	struct span section = owner->dwarf->sections[DWARF_LINE];
	struct header header = { .unit = *owner };
	struct bytes bytes = bytes_from(section, owner->line_offset), program;

	memset(lines, 0, sizeof(*lines));
	lines->unit_directory = owner->directory;
	if (!read_header(&header, &bytes, &program) ||
	    !dwarf_charge(owner->dwarf, bytes_left(&bytes)))
		return;
	if (header.version >= 5) {
		read_names(lines, &bytes, &header, false);
		read_names(lines, &bytes, &header, true);
	} else {
		read_old_names(lines, &bytes, owner);
	}
	run(lines, &header, &program);
	if (lines->sequence_count > 1)
		qsort(lines->sequences, lines->sequence_count,
		      sizeof(*lines->sequences), by_low);
	DEBUG_ASSERT(dwarf_lines_is_valid(lines));
}

void dwarf_lines_free(struct dwarf_lines *lines)
{
	free(lines->rows);
	free(lines->sequences);
	free(lines->files);
	free(lines->directories);
	memset(lines, 0, sizeof(*lines));
}

/* ---- looking up ---- */

static bool begins_above(const void *list, size_t i, uint64_t address)
{
	return ((const struct dwarf_sequence *)list)[i].low > address;
}

static bool is_above(const void *list, size_t i, uint64_t address)
{
	return ((const struct dwarf_row *)list)[i].address > address;
}

const struct dwarf_row *dwarf_lines_at(const struct dwarf_lines *lines,
				       uint64_t address)
{
	size_t above = search_first(lines->sequences, lines->sequence_count,
				    begins_above, address);
	const struct dwarf_sequence *sequence;
	const struct dwarf_row *rows;

	if (above == 0 || lines->sequences[above - 1].high <= address)
		return NULL;
	sequence = &lines->sequences[above - 1];
	rows = lines->rows + sequence->first;
	DEBUG_ASSERT(sequence->first + sequence->count <= lines->row_count);
	/* The last row at or before it: it begins at the sequence's low. */
	above = search_first(rows, sequence->count, is_above, address);
	DEBUG_ASSERT(above > 0);
	return &rows[above - 1];
}

bool dwarf_lines_path(const struct dwarf_lines *lines, uint64_t file,
		      struct buffer *path)
{
	const char *directory = NULL, *name;

	if (file >= lines->file_count)
		return false;
	name = lines->files[file].name;
	if (name == NULL)
		return false;
	if (lines->files[file].directory < lines->directory_count)
		directory = lines->directories[lines->files[file].directory];
	if (name[0] != '/' && directory != NULL) {
		if (directory[0] != '/' && lines->unit_directory != NULL &&
		    directory != lines->unit_directory)
			buffer_printf(path, "%s/", lines->unit_directory);
		buffer_printf(path, "%s/", directory);
	}
	buffer_string(path, name);
	return true;
}
