/*
 * rule_file.c: see rule_file.h.
 *
 *	ELF header | PT_NOTE, PT_LOAD | build id | .eh_frame | names | sections
 *
 * One CIE with the rules at a function's entry, and an FDE for each piece of
 * code with the changes from row to row.
 */
#include "cli/symbol/cfi/rule_file.h"

#include <dwarf.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/base/grow.h"
#include "cli/base/io_full.h"
#include "unwind/base/assertion.h"

enum { SECTION_NOTE = 1, SECTION_FRAMES, SECTION_NAMES, SECTIONS };
#define PHDRS 2
#define CIE_VERSION 1

struct writing {
	const struct binary *binary;
	const struct machine *machine;
	struct buffer *out;
	bool big;
	unsigned address;	/* bytes of an address */
};

static void put(struct writing *w, uint64_t number, unsigned size)
{
	if (w->big) {
		unsigned bits = 8 * size;

		number = __builtin_bswap64(number) >> (64 - bits);
	}
	buffer_little(w->out, number, size);
}

static void put_uleb(struct writing *w, uint64_t value)
{
	do {
		uint8_t byte = value & 0x7f;

		value >>= 7;
		put(w, byte | (value ? 0x80 : 0), 1);
	} while (value);
}

static void put_sleb(struct writing *w, int64_t value)
{
	for (;;) {
		uint8_t byte = value & 0x7f;

		value >>= 7;
		if ((value == 0 && !(byte & 0x40)) ||
		    (value == -1 && byte & 0x40)) {
			put(w, byte, 1);
			return;
		}
		put(w, byte | 0x80, 1);
	}
}

static void pad(struct writing *w, unsigned alignment)
{
	while (w->out->size % alignment != 0)
		put(w, 0, 1);
}

/* Completes a record: writes its length. */
static void end_record(struct writing *w, size_t at)
{
	struct buffer length = { 0 };
	struct writing patch = *w;

	pad(w, w->machine->word);	/* DW_CFA_nop is 0 */
	patch.out = &length;
	put(&patch, w->out->size - at - 4, 4);
	memcpy(w->out->data + at, length.data, 4);
	buffer_free(&length);
}

/* ---- rules ---- */

static unsigned column_of(const struct writing *w, unsigned reg)
{
	int column = machine_column(w->machine, reg);

	DEBUG_ASSERT(column >= 0);
	return (unsigned)column;
}

/* Register plus offset; deref: the word at that address. */
static void put_expression(struct writing *w, unsigned reg, int64_t offset,
			   bool deref)
{
	struct buffer code = { 0 };
	struct writing inner = *w;

	inner.out = &code;
	DEBUG_ASSERT(reg < 32);
	put(&inner, DW_OP_breg0 + reg, 1);
	put_sleb(&inner, offset);
	if (deref)
		put(&inner, DW_OP_deref, 1);
	put_uleb(w, code.size);
	buffer_add(w->out, code.data, code.size);
	buffer_free(&code);
}

static void put_register(struct writing *w, unsigned reg,
			 const struct generated_row *row)
{
	unsigned column = column_of(w, reg);
	int64_t factored;

	switch (row->where[reg]) {
	case GENERATED_SAME:
		put(w, DW_CFA_same_value, 1);
		put_uleb(w, column);
		break;
	case GENERATED_AT_CFA:
		DEBUG_ASSERT(row->offset[reg] % w->machine->word == 0);
		factored = row->offset[reg] / -(int)w->machine->word;
		if (factored >= 0 && column < 0x40) {
			put(w, DW_CFA_offset | column, 1);
			put_uleb(w, (uint64_t)factored);
			break;
		}
		put(w, DW_CFA_offset_extended_sf, 1);
		put_uleb(w, column);
		put_sleb(w, factored);
		break;
	case GENERATED_AT_FP:
		put(w, DW_CFA_expression, 1);
		put_uleb(w, column);
		put_expression(w, w->machine->fp[0], row->offset[reg], false);
		break;
	default:
		put(w, DW_CFA_undefined, 1);
		put_uleb(w, column);
	}
}

static void put_cfa(struct writing *w, const struct generated_row *before,
		    const struct generated_row *row)
{
	bool moved = row->cfa_reg != before->cfa_reg ||
		row->deref != before->deref;

	if (row->deref && (moved || row->cfa_offset != before->cfa_offset)) {
		put(w, DW_CFA_def_cfa_expression, 1);
		put_expression(w, row->cfa_reg, row->cfa_offset, true);
	} else if (moved) {
		put(w, DW_CFA_def_cfa, 1);
		put_uleb(w, row->cfa_reg);
		put_uleb(w, (uint64_t)row->cfa_offset);
	} else if (row->cfa_offset != before->cfa_offset) {
		put(w, DW_CFA_def_cfa_offset, 1);
		put_uleb(w, (uint64_t)row->cfa_offset);
	}
}

static void put_changes(struct writing *w, const struct generated_row *before,
			const struct generated_row *row)
{
	put_cfa(w, before, row);
	if (row->signs != before->signs)
		put(w, DW_CFA_AARCH64_negate_ra_state, 1);
	for (unsigned reg = 0; reg < SYMBOLIC_REGS; reg++)
		if (row->where[reg] != before->where[reg] ||
		    row->offset[reg] != before->offset[reg])
			put_register(w, reg, row);
}

static void put_advance(struct writing *w, uint64_t delta)
{
	delta /= w->machine->alignment;
	if (delta < 0x40) {
		put(w, DW_CFA_advance_loc | delta, 1);
	} else if (delta <= UINT8_MAX) {
		put(w, DW_CFA_advance_loc1, 1);
		put(w, delta, 1);
	} else if (delta <= UINT16_MAX) {
		put(w, DW_CFA_advance_loc2, 1);
		put(w, delta, 2);
	} else {
		put(w, DW_CFA_advance_loc4, 1);
		put(w, delta, 4);
	}
}

/* The row at a function's entry. */
static void entry_row(const struct writing *w, struct generated_row *row)
{
	memset(row, 0, sizeof(*row));
	row->cfa_reg = w->machine->sp;
	row->cfa_offset = w->machine->entry_offset;
	if (w->machine->ra_on_stack) {
		row->where[w->machine->ra] = GENERATED_AT_CFA;
		row->offset[w->machine->ra] = -(int)w->machine->word;
	}
}

/* Addresses are those in the image's file. They are relative to where it is
 * mapped, unless it has fixed addresses. */
static uint8_t encoding(const struct writing *w)
{
	return (w->address == 8 ? DW_EH_PE_udata8 : DW_EH_PE_udata4) |
		(w->binary->file->tables.header.e_type == ET_EXEC ? 0 :
		 DW_EH_PE_textrel);
}

static size_t put_cie(struct writing *w)
{
	size_t at = w->out->size;
	struct generated_row row, none = { 0 };

	entry_row(w, &row);
	none.cfa_reg = UINT8_MAX;
	put(w, 0, 4);
	put(w, 0, 4);
	put(w, CIE_VERSION, 1);
	buffer_add(w->out, "zR", 3);
	put_uleb(w, w->machine->alignment);
	put_sleb(w, -(int)w->machine->word);
	put(w, w->machine->ra, 1);
	put_uleb(w, 1);
	put(w, encoding(w), 1);
	put_changes(w, &none, &row);
	end_record(w, at);
	return at;
}

static void put_fde(struct writing *w, size_t cie,
		    const struct generated_rules *made,
		    const struct generated_entry *entry)
{
	size_t at = w->out->size;
	struct generated_row before;

	entry_row(w, &before);
	put(w, 0, 4);
	put(w, at + 4 - cie, 4);
	put(w, entry->start, w->address);
	put(w, entry->end - entry->start, w->address);
	put_uleb(w, 0);
	for (size_t i = 0; i < entry->count; i++) {
		const struct generated_row *row = &made->rows[entry->first + i];

		if (i > 0)
			put_advance(w, row->start - row[-1].start);
		put_changes(w, &before, row);
		before = *row;
	}
	end_record(w, at);
}

/* ---- the file ---- */

static void put_note(struct writing *w)
{
	put(w, 4, 4);
	put(w, w->binary->id_size, 4);
	put(w, NT_GNU_BUILD_ID, 4);
	buffer_add(w->out, "GNU", 4);
	buffer_add(w->out, (const char *)w->binary->id, w->binary->id_size);
}

static void put_headers(struct writing *w, const Elf64_Shdr *sections,
			uint64_t section_at)
{
	const struct elf_tables *t = &w->binary->file->tables;
	const struct elf_class *class = t->class;
	const Elf64_Shdr *note = &sections[SECTION_NOTE];
	const Elf64_Shdr *frames = &sections[SECTION_FRAMES];
	const Elf64_Phdr phdrs[PHDRS] = {
		{ .p_type = PT_NOTE, .p_flags = PF_R,
		  .p_offset = note->sh_offset, .p_vaddr = note->sh_offset,
		  .p_filesz = note->sh_size, .p_memsz = note->sh_size,
		  .p_align = 4 },
		{ .p_type = PT_LOAD, .p_flags = PF_R,
		  .p_offset = frames->sh_offset, .p_vaddr = frames->sh_offset,
		  .p_filesz = frames->sh_size, .p_memsz = frames->sh_size,
		  .p_align = w->machine->word },
	};
	Elf64_Ehdr header = t->header;

	header.e_type = ET_DYN;
	header.e_entry = 0;
	header.e_phoff = class->ehdr_size;
	header.e_shoff = section_at;
	header.e_phentsize = (uint16_t)class->phdr_size;
	header.e_phnum = PHDRS;
	header.e_shentsize = (uint16_t)class->shdr_size;
	header.e_shnum = SECTIONS;
	header.e_shstrndx = SECTION_NAMES;
	class->put_ehdr(w->out->data, &header);
	for (unsigned i = 0; i < PHDRS; i++)
		class->put_phdr(w->out->data + class->ehdr_size +
				i * class->phdr_size, &phdrs[i]);
}

static void put_sections(struct writing *w, Elf64_Shdr *sections)
{
	static const char names[] = "\0.note.gnu.build-id\0.eh_frame\0"
		".shstrtab";
	static const uint32_t name[SECTIONS] = { 0, 1, 20, 30 };
	const struct elf_class *class = w->binary->file->tables.class;
	uint64_t at;

	sections[SECTION_NAMES] = (Elf64_Shdr){
		.sh_type = SHT_STRTAB, .sh_offset = w->out->size,
		.sh_size = sizeof(names), .sh_addralign = 1 };
	buffer_add(w->out, names, sizeof(names));
	pad(w, 8);
	at = w->out->size;
	for (unsigned i = 0; i < SECTIONS; i++) {
		char bytes[sizeof(Elf64_Shdr)];

		sections[i].sh_name = name[i];
		class->put_shdr(bytes, &sections[i]);
		buffer_add(w->out, bytes, class->shdr_size);
	}
	put_headers(w, sections, at);
}

/* MIPS64 programs with fixed addresses may lie beyond 4 GiB. */
static unsigned address_size(const struct generated_rules *made)
{
	bool far = made->count > 0 &&
		made->entries[made->count - 1].end > UINT32_MAX;

	return far ? 8 : 4;
}

void rule_file_bytes(const struct binary *binary,
		     const struct generated_rules *made, struct buffer *bytes)
{
	const struct elf_class *class = binary->file->tables.class;
	struct writing w = { binary, binary->machine, bytes, class->big,
			     address_size(made) };
	Elf64_Shdr sections[SECTIONS] = { 0 };
	size_t cie, base;

	for (size_t i = 0; i < class->ehdr_size + PHDRS * class->phdr_size; i++)
		put(&w, 0, 1);
	sections[SECTION_NOTE] = (Elf64_Shdr){
		.sh_type = SHT_NOTE, .sh_flags = SHF_ALLOC,
		.sh_addr = bytes->size, .sh_offset = bytes->size,
		.sh_size = 16 + binary->id_size, .sh_addralign = 4 };
	put_note(&w);
	pad(&w, 8);
	base = bytes->size;
	cie = put_cie(&w);
	for (size_t i = 0; i < made->count; i++)
		put_fde(&w, cie, made, &made->entries[i]);
	put(&w, 0, 4);
	sections[SECTION_FRAMES] = (Elf64_Shdr){
		.sh_type = SHT_PROGBITS, .sh_flags = SHF_ALLOC,
		.sh_addr = base, .sh_offset = base,
		.sh_size = bytes->size - base,
		.sh_addralign = binary->machine->word };
	put_sections(&w, sections);
}

char *rule_file_path(const char *directory, const uint8_t *id,
		     uint32_t id_size)
{
	struct buffer path = { 0 };
	char *text;

	buffer_printf(&path, "%s/", directory);
	for (uint32_t i = 0; i < id_size; i++)
		buffer_printf(&path, "%02x", id[i]);
	buffer_string(&path, ".cfi");
	text = grow_copy(path.data, path.size);
	buffer_free(&path);
	return text;
}

int rule_file_write(const char *path, const struct buffer *bytes)
{
	char *made = grow_format("%s.XXXXXX", path);
	int fd = mkostemp(made, O_CLOEXEC), error = fd < 0 ? -errno : 0;

	if (fd >= 0) {
		error = io_full_write(fd, bytes->data, bytes->size);
		if (error == 0 && fchmod(fd, 0644) != 0)
			error = -errno;
		if (close(fd) != 0 && error == 0)
			error = -errno;
		if (error == 0 && rename(made, path) != 0)
			error = -errno;
		if (error != 0)
			unlink(made);
	}
	free(made);
	return error;
}
