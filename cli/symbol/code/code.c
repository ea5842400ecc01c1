/*
 * code.c: see code.h. Bytes are found through sections: the program headers of
 * a file with only symbols describe bytes that it does not have. A trace mostly
 * embeds such files, so its embedded files are tried last.
 *
 * Called by the main thread.
 */
#include "cli/symbol/code/code.h"

#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "cli/base/intern.h"
#include "cli/symbol/code/mips_table.h"
#include "cli/symbol/code/plt_stub.h"
#include "cli/symbol/names/object.h"

#define RANGE_MAX 4096		/* if the length is unknown */
#define SLOTS_MAX (1u << 20)

struct slot {
	uint64_t address;
	const char *name;	/* NULL: only an address */
	uint64_t target;
};

/* The lines of a unit. */
struct unit {
	struct dwarf_unit *unit;
	struct dwarf_lines lines;
	const char **files;	/* paths of its files, made on demand */
};

struct code {
	struct debugfile_places places;
	struct elf_kind kind;
	struct object object;
	uint64_t bias;		/* of its addresses */
	struct unit *units;
	size_t unit_count;
	size_t unit_capacity;
	struct intern paths;
	struct slot *slots;	/* filled by the loader, by address */
	size_t slot_count;
	size_t slot_capacity;
	uint64_t slots_left;	/* entries not yet examined */
	struct elf_texts slot_names;
	bool has_slots;
	struct mapping mapping;
	bool has_mapping;	/* mapping symbols were read, if any */
	/* code_open_bytes */
	uint64_t start;
	const uint8_t *bytes;
	size_t size;
};

static const struct elf_tables *tables_of(const struct code *code)
{
	return code->object.binary ? &code->object.binary->tables : NULL;
}

/* A trace mostly embeds files with symbols only. */
static bool has_code(const struct elf_tables *t)
{
	for (uint32_t i = 0; i < t->sections; i++)
		if (t->section[i].sh_flags & SHF_EXECINSTR &&
		    t->section[i].sh_type != SHT_NOBITS)
			return true;
	return t->sections == 0;
}

struct code *code_open(const struct debugfile_places *places,
		       const struct symbol_image *image)
{
	struct code *code = grow_zeroed(1, sizeof(*code));
	struct debugfile_places whole = *places, quiet;
	bool embedded = false;
	char *path;
	int fd;

	code->places = *places;
	code->bias = image->bias;
	whole.embedded = whole.sidecar = NULL;
	quiet = whole;
	if (places->embedded != NULL)
		quiet.notes = NULL;
	fd = debugfile_binary(&quiet, &image->file, &path);
	if (fd < 0 && places->embedded != NULL) {
		fd = debugfile_binary(places, &image->file, &path);
		embedded = fd >= 0;
	}
	object_open_found(&code->object, &code->places, &image->file, fd,
			  path);
	if (embedded && code->object.binary != NULL &&
	    !has_code(tables_of(code))) {
		object_close(&code->object);
		memset(&code->object, 0, sizeof(code->object));
		fd = debugfile_binary(&whole, &image->file, &path);
		object_open_found(&code->object, &code->places, &image->file,
				  fd, path);
	}
	if (code->object.binary == NULL)
		return code;
	code->kind = elf_kind_of(tables_of(code));
	return code;
}

struct code *code_open_bytes(const struct elf_kind *kind, uint64_t start,
			     const uint8_t *bytes, size_t size)
{
	struct code *code = grow_zeroed(1, sizeof(*code));

	code->kind = *kind;
	code->start = start;
	code->bytes = bytes;
	code->size = size;
	return code;
}

void code_free(struct code *code)
{
	if (code == NULL)
		return;
	for (size_t i = 0; i < code->unit_count; i++) {
		dwarf_lines_free(&code->units[i].lines);
		free(code->units[i].files);
	}
	free(code->units);
	intern_free(&code->paths);
	elf_texts_free(&code->slot_names);
	mapping_free(&code->mapping);
	object_close(&code->object);
	free(code->slots);
	free(code);
}

const struct elf_kind *code_kind(const struct code *code)
{
	return &code->kind;
}

const char *code_path(const struct code *code)
{
	return code->object.binary ? code->object.binary->path : NULL;
}

/* ---- bytes ---- */

/* The executable section that contains an address of the file. */
static const Elf64_Shdr *section_at(const struct elf_tables *t,
				    uint64_t address)
{
	for (uint32_t i = 0; i < t->sections; i++)
		if (t->section[i].sh_flags & SHF_EXECINSTR &&
		    address - t->section[i].sh_addr < t->section[i].sh_size)
			return &t->section[i];
	return NULL;
}

/* For files without section headers; files without bytes have section
 * headers. */
static const Elf64_Phdr *segment_at(const struct elf_tables *t,
				    uint64_t address)
{
	for (uint32_t i = 0; i < t->phdrs && t->sections == 0; i++)
		if (t->phdr[i].p_type == PT_LOAD && t->phdr[i].p_flags & PF_X &&
		    address - t->phdr[i].p_vaddr < t->phdr[i].p_filesz)
			return &t->phdr[i];
	return NULL;
}

/* A range of code in memory and in the file. */
struct extent {
	uint64_t start, size, offset;
	bool has_bytes;
};

/* The extent of code around an address. */
static bool extent_at(const struct code *code, uint64_t address,
		      struct extent *extent)
{
	const struct elf_tables *t = tables_of(code);
	const Elf64_Shdr *section;
	const Elf64_Phdr *segment;

	if (t == NULL)
		return false;
	section = section_at(t, address - code->bias);
	segment = section ? NULL : segment_at(t, address - code->bias);
	if (section != NULL)
		*extent = (struct extent){ section->sh_addr + code->bias,
					   section->sh_size, section->sh_offset,
					   section->sh_type != SHT_NOBITS };
	else if (segment != NULL)
		*extent = (struct extent){ segment->p_vaddr + code->bias,
					   segment->p_filesz, segment->p_offset,
					   true };
	return section != NULL || segment != NULL;
}

const uint8_t *code_bytes(struct code *code, uint64_t start, size_t size)
{
	const struct elf_tables *t = tables_of(code);
	struct extent extent;
	uint64_t skip;

	if (code->bytes != NULL)
		return start >= code->start && size <= code->size &&
			start - code->start <= code->size - size ?
			code->bytes + (start - code->start) : NULL;
	if (!extent_at(code, start, &extent) || !extent.has_bytes)
		return NULL;
	skip = start - extent.start;
	if (size > extent.size - skip ||
	    !elf_tables_within(extent.offset, extent.size, t->size))
		return NULL;
	return t->bytes + extent.offset + skip;
}

/* ---- functions ---- */

static bool range_of_symbol(const struct code *code, uint64_t address,
			    struct code_range *range)
{
	const struct symtab_symbol *symbol =
		symtab_find(&code->object.symbols, address - code->bias);

	if (symbol == NULL || symbol->end == symbol->address)
		return false;
	range->start = symbol->address + code->bias;
	range->end = symbol->end + code->bias;
	range->symbol = symbol->name;
	return true;
}

static void range_of_table(struct code *code, uint64_t address,
			   struct code_range *range)
{
	struct fdes_range found;

	if (!fdes_find(&code->object.fdes, address - code->bias, &found))
		return;
	range->start = found.low + code->bias;
	range->end = found.high + code->bias;
}

/* Cut the range at symbols that end before the address, or begin after it. */
static void cut_by_symbols(const struct code *code, uint64_t address,
			   struct code_range *range)
{
	uint64_t low = 0, high = UINT64_MAX;

	symtab_around(&code->object.symbols, address - code->bias, &low, &high);
	if (low > range->start - code->bias)
		range->start = low + code->bias;
	if (high < range->end - code->bias)
		range->end = high + code->bias;
}

bool code_range_at(struct code *code, uint64_t address,
		   struct code_range *range)
{
	struct extent extent;
	uint64_t end;

	*range = (struct code_range){ 0 };
	if (code->bytes != NULL) {
		range->start = code->start;
		range->end = code->start + code->size;
		return address - code->start < code->size;
	}
	if (!extent_at(code, address, &extent))
		return false;
	if (range_of_symbol(code, address, range))
		return true;
	end = extent.start + extent.size;
	range->start = extent.start;
	range->end = end;
	range_of_table(code, address, range);
	cut_by_symbols(code, address, range);
	/* Unwind tables are from the file: not trusted. */
	if (range->start < extent.start || range->start > address)
		range->start = extent.start;
	if (range->end > end || range->end <= address)
		range->end = end;
	if (address - range->start > RANGE_MAX)
		range->start = address - RANGE_MAX;
	if (range->end - address > RANGE_MAX)
		range->end = address + RANGE_MAX;
	return true;
}

static void read_mapping(struct code *code)
{
	const struct object *object = &code->object;

	code->has_mapping = true;
	if (object->binary != NULL &&
	    !mapping_read(&code->mapping, object->binary) &&
	    object->debug != NULL)
		mapping_read(&code->mapping, object->debug);
}

bool code_mapping(struct code *code, const struct code_range *range,
		  uint64_t address, enum mapping_kind *kind, uint64_t *end)
{
	const struct symtab_symbol *symbol;
	uint64_t at = address - code->bias, until = range->end - code->bias;

	if (!code->has_mapping)
		read_mapping(code);
	*end = range->end;
	if (mapping_at(&code->mapping, at, kind, &until)) {
		if (until < range->end - code->bias)
			*end = until + code->bias;
		return true;
	}
	symbol = symtab_find(&code->object.symbols, at);
	if (symbol == NULL || code->kind.machine != EM_ARM)
		return false;
	*kind = symbol->thumb ? MAPPING_THUMB : MAPPING_CODE;
	return true;
}

/* ---- lines ---- */

/* NULL: nothing is known about the address. */
static struct unit *unit_at(struct code *code, uint64_t address)
{
	struct dwarf_unit *wanted = object_unit_at(&code->object, address);
	struct unit *unit;

	if (wanted == NULL)
		return NULL;
	for (size_t i = 0; i < code->unit_count; i++)
		if (code->units[i].unit == wanted)
			return &code->units[i];
	GROW(code->units, code->unit_count, code->unit_capacity);
	unit = &code->units[code->unit_count++];
	unit->unit = wanted;
	dwarf_lines_read(&unit->lines, wanted);
	unit->files = grow_zeroed(unit->lines.file_count + 1,
				  sizeof(*unit->files));
	return unit;
}

static const char *file_of(struct code *code, struct unit *unit, uint32_t file)
{
	struct buffer path = { 0 };

	if (file >= unit->lines.file_count)
		return NULL;
	if (unit->files[file] == NULL &&
	    dwarf_lines_path(&unit->lines, file, &path) && path.data != NULL)
		unit->files[file] = intern_string(&code->paths, path.data);
	buffer_free(&path);
	return unit->files[file];
}

bool code_line(struct code *code, uint64_t address, struct code_line *line)
{
	uint64_t at = address - code->bias;
	struct unit *unit = code->bytes ? NULL : unit_at(code, at);
	const struct dwarf_row *row;

	*line = (struct code_line){ 0 };
	row = unit ? dwarf_lines_at(&unit->lines, at) : NULL;
	if (row == NULL)
		return false;
	line->file = file_of(code, unit, row->file);
	line->directory = unit->lines.unit_directory;
	line->line = row->line;
	return line->file != NULL;
}

/* ---- call targets ---- */

static void add_slot(struct code *code, const struct elf_tables *t,
		     const Elf64_Shdr *symbols, const Elf64_Rela *entry)
{
	uint64_t number = ELF64_R_SYM(entry->r_info);
	struct slot slot = { .address = entry->r_offset + code->bias };
	Elf64_Sym symbol;

	if (number == 0 && entry->r_addend != 0) {
		slot.target = (uint64_t)entry->r_addend + code->bias;
	} else if (number != 0) {
		if (number >= symbols->sh_size / t->class->sym_size)
			return;
		t->class->get_sym(&symbol, t->bytes + symbols->sh_offset +
				  number * t->class->sym_size);
		slot.name = elf_texts_at(&code->slot_names, symbol.st_name);
		if (slot.name[0] == 0)
			return;
	}
	GROW(code->slots, code->slot_count, code->slot_capacity);
	code->slots[code->slot_count++] = slot;
}

static void add_slots(struct code *code, const struct elf_tables *t,
		      const Elf64_Shdr *section, const Elf64_Shdr *symbols)
{
	bool addends = section->sh_type == SHT_RELA;
	size_t each = addends ? t->class->rela_size : t->class->rel_size;
	uint64_t count = section->sh_size / each;

	for (uint64_t i = 0; i < count && code->slot_count < SLOTS_MAX &&
	     code->slots_left > 0; i++, code->slots_left--) {
		const uint8_t *at = t->bytes + section->sh_offset + i * each;
		Elf64_Rela entry = { 0 };
		Elf64_Rel bare;

		if (addends) {
			t->class->get_rela(&entry, at);
		} else {
			t->class->get_rel(&bare, at);
			entry.r_offset = bare.r_offset;
			entry.r_info = bare.r_info;
		}
		add_slot(code, t, symbols, &entry);
	}
}

static int by_address(const void *a, const void *b)
{
	const struct slot *x = a, *y = b;

	return x->address < y->address ? -1 : x->address > y->address;
}

/* MIPS slots have no relocations. */
static void add_mips_slots(struct code *code, const struct elf_tables *t,
			   const Elf64_Shdr *symbols)
{
	struct mips_table table;

	if (!mips_table_of(t, &table))
		return;
	for (uint64_t i = 0; i < table.locals + table.globals &&
	     code->slot_count < SLOTS_MAX; i++) {
		struct slot slot = { .address = table.address + i *
				     sizeof(uint64_t) + code->bias };
		Elf64_Sym symbol;

		if (i < table.locals) {
			slot.target = mips_table_word(t, &table, i) +
				code->bias;
		} else if (table.first + (i - table.locals) <
			   symbols->sh_size / t->class->sym_size) {
			t->class->get_sym(&symbol, t->bytes +
					  symbols->sh_offset +
					  (table.first + (i - table.locals)) *
					  t->class->sym_size);
			slot.name = elf_texts_at(&code->slot_names,
						 symbol.st_name);
		}
		GROW(code->slots, code->slot_count, code->slot_capacity);
		code->slots[code->slot_count++] = slot;
	}
}

static void make_slots(struct code *code, const struct elf_tables *t)
{
	const Elf64_Shdr *symbols = elf_tables_of_type(t, SHT_DYNSYM);

	if (symbols == NULL ||
	    elf_texts_load(&code->slot_names, t, symbols->sh_link,
			   UINT64_MAX) != 0)
		return;
	code->slots_left = t->size / t->class->rel_size;
	if (code->kind.machine == EM_MIPS) {
		if (elf_tables_has(t, symbols))
			add_mips_slots(code, t, symbols);
		return;
	}
	for (uint32_t i = 0; i < t->sections; i++) {
		const Elf64_Shdr *section = &t->section[i];

		if ((section->sh_type == SHT_RELA ||
		     section->sh_type == SHT_REL) &&
		    section->sh_link == (uint32_t)(symbols - t->section) &&
		    elf_tables_has(t, section))
			add_slots(code, t, section, symbols);
	}
	if (code->slot_count > 0)
		qsort(code->slots, code->slot_count, sizeof(*code->slots),
		      by_address);
}

static const struct slot *slot_at(struct code *code, uint64_t address)
{
	struct slot key = { .address = address };

	if (!code->has_slots && tables_of(code) != NULL)
		make_slots(code, tables_of(code));
	code->has_slots = true;
	return code->slot_count == 0 ? NULL :
		bsearch(&key, code->slots, code->slot_count,
			sizeof(*code->slots), by_address);
}

bool code_slot_target(struct code *code, uint64_t address, uint64_t *target)
{
	const struct slot *found = slot_at(code, address);

	*target = found ? found->target : 0;
	return found != NULL;
}

bool code_gp(const struct code *code, uint64_t *gp)
{
	struct mips_table table;

	if (code->kind.machine != EM_MIPS || tables_of(code) == NULL ||
	    !mips_table_of(tables_of(code), &table))
		return false;
	*gp = table.address + code->bias + MIPS_TABLE_GP;
	return true;
}

const char *code_slot(struct code *code, uint64_t address)
{
	const struct slot *found = slot_at(code, address);
	const struct symtab_symbol *symbol;

	if (found == NULL || found->name != NULL || found->target == 0)
		return found ? found->name : NULL;
	symbol = symtab_find(&code->object.symbols,
			     found->target - code->bias);
	return symbol ? symbol->name : NULL;
}

static const char *name_of_stub(struct code *code, uint64_t address)
{
	const uint8_t *bytes = NULL;
	uint64_t slot;
	size_t size;

	for (size = PLT_STUB_SIZE; size > 0 && bytes == NULL; size--)
		bytes = code_bytes(code, address, size);
	slot = bytes ? plt_stub_slot(&code->kind, address, bytes, size + 1) : 0;
	return slot ? code_slot(code, slot) : NULL;
}

const char *code_name(struct code *code, uint64_t address, uint64_t *offset)
{
	uint64_t at = address - code->bias;
	const struct symtab_symbol *symbol =
		symtab_find(&code->object.symbols, at);

	*offset = 0;
	if (symbol != NULL && (at == symbol->address || at < symbol->end)) {
		*offset = at - symbol->address;
		return symbol->name;
	}
	return name_of_stub(code, address);
}
