/*
 * code.c: see code.h. libdwfl knows the file and its debug file; the bytes are
 * read by sections, since the program headers of a file that has only symbols
 * promise bytes that are not there. What a trace embeds is such a file, so it
 * is the last place where the bytes are looked for.
 *
 * Called by the main thread.
 */
#include "cli/symbol/code.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>

#include "cli/base/grow.h"

#define RANGE_MAX 4096		/* where nothing says how long it is */
#define SLOTS_MAX (1u << 20)

struct slot {
	uint64_t address;
	const char *name;	/* NULL: just an address */
	uint64_t target;
};

struct code {
	struct debugfile_places places;
	struct symbol_image image;
	struct code_kind kind;
	char *path;
	Dwfl *dwfl;
	Dwfl_Module *module;
	Elf *elf;
	GElf_Addr bias;		/* of its addresses */
	struct slot *slots;	/* what the loader fills in, by address */
	size_t slot_count;
	size_t slot_capacity;
	bool has_slots;
	/* code_open_bytes */
	uint64_t start;
	const uint8_t *bytes;
	size_t size;
};

static int find_debug(Dwfl_Module *module, void **user_data,
		      const char *name, Dwarf_Addr base,
		      const char *file_name, const char *debuglink,
		      GElf_Word crc, char **found)
{
	struct code *code = *user_data;

	(void)module, (void)name, (void)base, (void)file_name, (void)crc;
	if (code == NULL)
		return -1;
	return debugfile_debug(&code->places, &code->image.file, debuglink,
			       found);
}

static const Dwfl_Callbacks callbacks = {
	.find_elf = dwfl_build_id_find_elf,
	.find_debuginfo = find_debug,
	.section_address = dwfl_offline_section_address,
};

static void report(struct code *code, int fd)
{
	void **user_data;

	code->dwfl = dwfl_begin(&callbacks);
	if (code->dwfl == NULL) {
		close(fd);
		return;
	}
	dwfl_report_begin(code->dwfl);
	/* Takes over the descriptor if it succeeds. */
	code->module = dwfl_report_elf(code->dwfl, code->path, code->path, fd,
				       code->image.bias, true);
	dwfl_report_end(code->dwfl, NULL, NULL);
	if (code->module == NULL) {
		close(fd);
		return;
	}
	if (dwfl_module_info(code->module, &user_data, NULL, NULL, NULL, NULL,
			     NULL, NULL) != NULL)
		*user_data = code;
	code->elf = dwfl_module_getelf(code->module, &code->bias);
}

struct code *code_open(const struct debugfile_places *places,
		       const struct symbol_image *image)
{
	struct code *code = grow_zeroed(1, sizeof(*code));
	struct debugfile_places whole = *places;
	GElf_Ehdr header;
	int fd;

	elf_version(EV_CURRENT);
	code->places = *places;
	code->image = *image;
	whole.embedded = whole.beside = NULL;
	fd = debugfile_binary(&whole, &image->file, &code->path);
	if (fd < 0 && places->embedded != NULL)
		fd = debugfile_binary(places, &image->file, &code->path);
	if (fd < 0)
		return code;
	report(code, fd);
	if (code->elf == NULL || gelf_getehdr(code->elf, &header) == NULL) {
		code->elf = NULL;
		return code;
	}
	code->kind = (struct code_kind){
		.machine = header.e_machine,
		.wide = header.e_ident[EI_CLASS] == ELFCLASS64,
		.big = header.e_ident[EI_DATA] == ELFDATA2MSB,
		.flags = header.e_flags,
	};
	return code;
}

struct code *code_open_bytes(const struct code_kind *kind, uint64_t start,
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
	dwfl_end(code->dwfl);
	free(code->path);
	free(code->slots);
	free(code);
}

const struct code_kind *code_kind(const struct code *code)
{
	return &code->kind;
}

const char *code_path(const struct code *code)
{
	return code->path;
}

/* ---- bytes ---- */

/* The executable section that holds an address of the file. */
static bool section_at(struct code *code, uint64_t address, GElf_Shdr *header)
{
	Elf_Scn *section = NULL;

	while ((section = elf_nextscn(code->elf, section)) != NULL)
		if (gelf_getshdr(section, header) != NULL &&
		    header->sh_flags & SHF_EXECINSTR &&
		    address - header->sh_addr < header->sh_size)
			return true;
	return false;
}

/* A file without section headers; those without bytes have them. */
static bool segment_at(struct code *code, uint64_t address, GElf_Phdr *header)
{
	size_t count = 0, sections = 0;

	if (elf_getphdrnum(code->elf, &count) != 0 ||
	    elf_getshdrnum(code->elf, &sections) != 0 || sections > 0)
		return false;
	for (size_t i = 0; i < count; i++)
		if (gelf_getphdr(code->elf, (int)i, header) != NULL &&
		    header->p_type == PT_LOAD && header->p_flags & PF_X &&
		    address - header->p_vaddr < header->p_filesz)
			return true;
	return false;
}

/* Where the code around an address begins and ends in memory, and in the
 * file; `has_bytes`: whether it is there. */
static bool extent_at(struct code *code, uint64_t address, uint64_t *start,
		      uint64_t *size, uint64_t *offset, bool *has_bytes)
{
	GElf_Shdr section;
	GElf_Phdr segment;

	if (code->elf == NULL)
		return false;
	address -= code->bias;
	if (section_at(code, address, &section)) {
		*start = section.sh_addr + code->bias;
		*size = section.sh_size;
		*offset = section.sh_offset;
		*has_bytes = section.sh_type != SHT_NOBITS;
		return true;
	}
	if (!segment_at(code, address, &segment))
		return false;
	*start = segment.p_vaddr + code->bias;
	*size = segment.p_filesz;
	*offset = segment.p_offset;
	*has_bytes = true;
	return true;
}

const uint8_t *code_bytes(struct code *code, uint64_t start, size_t size)
{
	uint64_t from, length, offset;
	bool has_bytes;
	Elf_Data *data;

	if (code->bytes != NULL)
		return start >= code->start && size <= code->size &&
			start - code->start <= code->size - size ?
			code->bytes + (start - code->start) : NULL;
	if (!extent_at(code, start, &from, &length, &offset, &has_bytes) ||
	    !has_bytes || size > length - (start - from))
		return NULL;
	data = elf_getdata_rawchunk(code->elf,
				    (int64_t)(offset + (start - from)), size,
				    ELF_T_BYTE);
	return data != NULL && data->d_size >= size ? data->d_buf : NULL;
}

/* ---- functions ---- */

static bool range_of_symbol(struct code *code, uint64_t address,
			    struct code_range *range)
{
	GElf_Off offset;
	GElf_Sym symbol;
	const char *name = dwfl_module_addrinfo(code->module, address, &offset,
						&symbol, NULL, NULL, NULL);

	if (name == NULL || symbol.st_size == 0 || offset >= symbol.st_size)
		return false;
	range->start = address - offset;
	range->end = range->start + symbol.st_size;
	range->symbol = name;
	return true;
}

static uint32_t read_u32(const struct code *code, const uint8_t *at)
{
	uint32_t little = (uint32_t)at[0] | (uint32_t)at[1] << 8 |
			  (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;

	return code->kind.big ? __builtin_bswap32(little) : little;
}

/* Where the sorted table of .eh_frame_hdr is, if it is of the one kind that
 * linkers make: pairs of 32-bit offsets from the header. */
static const uint8_t *find_table(struct code *code, uint64_t *header,
				 uint32_t *entries)
{
	enum { KIND_U32 = 0x03, KIND_TABLE = 0x3b, HEAD = 12 };
	size_t count = 0;
	GElf_Phdr phdr;
	Elf_Data *data;
	const uint8_t *head;

	if (elf_getphdrnum(code->elf, &count) != 0)
		return NULL;
	for (size_t i = 0; i < count; i++) {
		if (gelf_getphdr(code->elf, (int)i, &phdr) == NULL ||
		    phdr.p_type != PT_GNU_EH_FRAME || phdr.p_filesz < HEAD)
			continue;
		data = elf_getdata_rawchunk(code->elf, (int64_t)phdr.p_offset,
					    phdr.p_filesz, ELF_T_BYTE);
		head = data && data->d_size >= HEAD ? data->d_buf : NULL;
		if (head == NULL || head[0] != 1 || head[2] != KIND_U32 ||
		    head[3] != KIND_TABLE)
			return NULL;
		*entries = read_u32(code, head + 8);
		if (*entries > (data->d_size - HEAD) / 8)
			return NULL;
		*header = phdr.p_vaddr + code->bias;
		return head + HEAD;
	}
	return NULL;
}

static uint64_t table_start(struct code *code, const uint8_t *table,
			    uint64_t header, uint32_t i)
{
	uint32_t offset = read_u32(code, table + 8 * (size_t)i);

	return header + (uint64_t)(int64_t)(int32_t)offset;
}

/* From one function that an unwind table knows to the next. */
static bool range_of_table(struct code *code, uint64_t address,
			   struct code_range *range)
{
	uint32_t entries = 0, low = 0, high;
	uint64_t header;
	const uint8_t *table = find_table(code, &header, &entries);

	if (table == NULL || entries == 0)
		return false;
	high = entries;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (table_start(code, table, header, middle) <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0)
		return false;
	range->start = table_start(code, table, header, low - 1);
	if (low < entries)
		range->end = table_start(code, table, header, low);
	return true;
}

/* Symbols that end before the address, or begin behind it. */
static void cut_by_symbols(struct code *code, uint64_t address,
			   struct code_range *range)
{
	GElf_Off offset;
	GElf_Sym symbol;

	if (dwfl_module_addrinfo(code->module, address, &offset, &symbol, NULL,
				 NULL, NULL) != NULL) {
		uint64_t end = address - offset + symbol.st_size;

		if (end <= address && end > range->start)
			range->start = end;
	}
}

bool code_range_at(struct code *code, uint64_t address,
		   struct code_range *range)
{
	uint64_t start, size, offset;
	bool has_bytes;

	*range = (struct code_range){ 0 };
	if (code->bytes != NULL) {
		range->start = code->start;
		range->end = code->start + code->size;
		return address - code->start < code->size;
	}
	if (!extent_at(code, address, &start, &size, &offset, &has_bytes))
		return false;
	if (range_of_symbol(code, address, range))
		return true;
	range->start = start;
	range->end = start + size;
	range_of_table(code, address, range);
	cut_by_symbols(code, address, range);
	/* Tables are from the file: they may say anything. */
	if (range->start < start || range->start > address)
		range->start = start;
	if (range->end > start + size || range->end <= address)
		range->end = start + size;
	if (address - range->start > RANGE_MAX)
		range->start = address - RANGE_MAX;
	if (range->end - address > RANGE_MAX)
		range->end = address + RANGE_MAX;
	return true;
}

/* ---- lines ---- */

bool code_line(struct code *code, uint64_t address, struct code_line *line)
{
	Dwfl_Line *found;
	int number = 0;

	*line = (struct code_line){ 0 };
	found = code->module ? dwfl_module_getsrc(code->module, address) :
		NULL;
	if (found == NULL)
		return false;
	line->file = dwfl_lineinfo(found, NULL, &number, NULL, NULL, NULL);
	line->directory = dwfl_line_comp_dir(found);
	line->line = number > 0 ? (unsigned)number : 0;
	return line->file != NULL;
}

/* ---- what calls call ---- */

static void add_slot(struct code *code, uint64_t offset, const char *name,
		     int64_t target)
{
	GROW(code->slots, code->slot_count, code->slot_capacity);
	code->slots[code->slot_count++] = (struct slot){
		offset + code->bias, name,
		target ? (uint64_t)target + code->bias : 0 };
}

static void add_slots(struct code *code, Elf_Scn *section,
		      const GElf_Shdr *header)
{
	Elf_Data *data = elf_getdata(section, NULL), *symbols;
	Elf_Scn *table = elf_getscn(code->elf, header->sh_link);
	size_t count = header->sh_entsize ?
		header->sh_size / header->sh_entsize : 0;
	GElf_Shdr table_header;

	if (data == NULL || table == NULL ||
	    gelf_getshdr(table, &table_header) == NULL ||
	    table_header.sh_type != SHT_DYNSYM ||
	    (symbols = elf_getdata(table, NULL)) == NULL)
		return;
	for (size_t i = 0; i < count && code->slot_count < SLOTS_MAX; i++) {
		GElf_Rela rela;
		GElf_Rel rel;
		GElf_Sym symbol;
		const char *name;

		if (header->sh_type == SHT_RELA) {
			if (gelf_getrela(data, (int)i, &rela) == NULL)
				break;
		} else {
			if (gelf_getrel(data, (int)i, &rel) == NULL)
				break;
			rela.r_offset = rel.r_offset;
			rela.r_info = rel.r_info;
			rela.r_addend = 0;
		}
		if (GELF_R_SYM(rela.r_info) == 0) {
			add_slot(code, rela.r_offset, NULL, rela.r_addend);
			continue;
		}
		if (gelf_getsym(symbols, (int)GELF_R_SYM(rela.r_info),
				&symbol) == NULL)
			continue;
		name = elf_strptr(code->elf, table_header.sh_link,
				  symbol.st_name);
		if (name == NULL || name[0] == 0)
			continue;
		add_slot(code, rela.r_offset, name, 0);
	}
}

static int by_address(const void *a, const void *b)
{
	const struct slot *x = a, *y = b;

	return x->address < y->address ? -1 : x->address > y->address;
}

const char *code_slot(struct code *code, uint64_t address)
{
	struct slot key = { .address = address }, *found;
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	if (!code->has_slots && code->elf != NULL) {
		while ((section = elf_nextscn(code->elf, section)) != NULL)
			if (gelf_getshdr(section, &header) != NULL &&
			    (header.sh_type == SHT_RELA ||
			     header.sh_type == SHT_REL))
				add_slots(code, section, &header);
		if (code->slot_count > 0)
			qsort(code->slots, code->slot_count,
			      sizeof(*code->slots), by_address);
	}
	code->has_slots = true;
	found = code->slot_count == 0 ? NULL :
		bsearch(&key, code->slots, code->slot_count,
			sizeof(*code->slots), by_address);
	if (found == NULL || found->name != NULL || found->target == 0 ||
	    code->module == NULL)
		return found ? found->name : NULL;
	return dwfl_module_addrname(code->module, found->target);
}

/* A stub of x86-64: (endbr64) (bnd) jmp *slot(%rip). */
static const char *name_of_stub(struct code *code, uint64_t address)
{
	static const uint8_t endbr[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	const uint8_t *bytes = code_bytes(code, address, 11);
	int32_t distance;
	size_t at = 0;

	if (code->kind.machine != EM_X86_64 || bytes == NULL)
		return NULL;
	if (memcmp(bytes, endbr, sizeof(endbr)) == 0)
		at = sizeof(endbr);
	if (bytes[at] == 0xf2)
		at++;
	if (at > 5 || bytes[at] != 0xff || bytes[at + 1] != 0x25)
		return NULL;
	memcpy(&distance, bytes + at + 2, sizeof(distance));
	return code_slot(code, address + at + 6 + (uint64_t)(int64_t)distance);
}

const char *code_name(struct code *code, uint64_t address, uint64_t *offset)
{
	GElf_Off behind = 0;
	GElf_Sym symbol;
	const char *name;

	*offset = 0;
	if (code->module == NULL)
		return NULL;
	name = dwfl_module_addrinfo(code->module, address, &behind, &symbol,
				    NULL, NULL, NULL);
	if (name != NULL && (behind == 0 || behind < symbol.st_size)) {
		*offset = behind;
		return name;
	}
	return name_of_stub(code, address);
}
